/** Entries that need scopes, by every way that leads to them. */
import { assert, describe, it } from "@effect/vitest"
import * as ChangeBus from "@mcpfx/server/ChangeBus"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { completing, contents, prompt, register, resource, template, text, tool } from "./protocol/fixtures.ts"
import { at, overHttp, serve } from "./protocol/harness.ts"

const scopes = ["read"]
const entries = register(
  tool("free", () => Effect.succeed(text("free"))),
  resource("demo://hidden", Effect.succeed(contents("demo://hidden", "hidden")), { visible: () => false }),
  resource("demo://scoped", Effect.succeed(contents("demo://scoped", "scoped")), { scopes }),
  template("demo://{a}", (value) => Effect.succeed(contents(`demo://${value}`, "from the template")), {
    scopes,
    completions: new Map([["a", completing(["secret"])]])
  }),
  prompt("plan", () => Effect.succeed({ messages: [] }), {
    scopes,
    descriptor: { name: "plan", arguments: [{ name: "day" }] },
    completions: new Map([["day", completing(["secret"])]])
  })
)

const principal = (granted: ReadonlyArray<string>) => ({
  issuer: "https://as",
  subject: "ada",
  scopes: granted,
  claims: {}
})

const asks: ReadonlyArray<[method: string, params: Record<string, unknown>]> = [
  ["resources/read", { uri: "demo://scoped" }],
  ["resources/read", { uri: "demo://any" }],
  ["resources/read", { uri: "demo://hidden" }],
  ["prompts/get", { name: "plan" }],
  ["completion/complete", { ref: { type: "ref/prompt", name: "plan" }, argument: { name: "day", value: "" } }],
  ["completion/complete", { ref: { type: "ref/resource", uri: "demo://{a}" }, argument: { name: "a", value: "" } }]
]

describe("scopes of entries", () => {
  for (const version of ["2025-11-25", "2026-07-28"] as const) {
    it.effect(`[ARS-09] ${version}: what stands behind an invisible entry needs its own scopes, and so do completions`, () =>
      Effect.gen(function*() {
        const endpoint = yield* serve(entries)
        for (const granted of [[], scopes]) {
          const client = overHttp(endpoint, version, { principal: principal(granted) })
          client.hello()
          for (const [method, params] of asks) {
            const { rejected, result } = yield* client.request(method, params)
            assert.deepStrictEqual(
              [rejected?.httpStatus, result === undefined],
              granted.length === 0 ? [403, true] : [undefined, false],
              JSON.stringify([method, params])
            )
          }
        }
      }))
  }

  it.effect("[ARS-09] 2026-07-28: who may not read a resource does not hear of it", () =>
    Effect.gen(function*() {
      const bus = yield* Layer.build(ChangeBus.layerMemory)
      const endpoint = yield* Effect.provide(serve(entries), bus)
      const notifications = { resourceSubscriptions: ["demo://scoped", "demo://hidden", "demo://elsewhere/x"] }
      const heard = (granted: ReadonlyArray<string>) =>
        overHttp(endpoint, "2026-07-28", { principal: principal(granted) }).start("subscriptions/listen", {
          notifications
        })
      const [without, with_] = [heard([]), heard(scopes)]
      const { publish } = yield* Effect.provide(ChangeBus.ChangeBus, bus)
      for (const uri of notifications.resourceSubscriptions) yield* publish({ kind: "resource", uri })
      yield* TestClock.adjust("1 second")
      const uris = (pushed: ReadonlyArray<unknown>) => pushed.slice(1).map((message) => at(message, "params", "uri"))
      assert.deepStrictEqual(uris(without.pushed), ["demo://elsewhere/x"])
      assert.deepStrictEqual(uris(with_.pushed), notifications.resourceSubscriptions)
    }))
})
