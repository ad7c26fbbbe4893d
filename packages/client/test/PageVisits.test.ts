import { assert, it } from "@effect/vitest"
import { ClientElicitation } from "@mcpfx/client"
import { Codes, type Elicitation } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { Deferred, Effect, Fiber, Layer, Ref } from "effect"
import { TestClock } from "effect/testing"
import { connected, said, sentTo, speaking } from "./support/asks.ts"
import { settle } from "./support/client.ts"

const page = (elicitationId: string): Elicitation.UrlParams => ({
  mode: "url",
  message: "Sign in",
  url: `https://auth.example.com/${elicitationId}`,
  elicitationId
})

const needed = (...ids: ReadonlyArray<string>) =>
  ScriptedServer.error(Codes.urlElicitationRequired, "Sign in first", { elicitations: ids.map(page) })

/** Refuses until this was called so often. */
const refusing = (times: number, ...ids: ReadonlyArray<string>) => {
  let calls = 0
  return () => calls++ < times ? needed(...ids) : said("done")
}

const serving = (reply: NonNullable<ScriptedServer.Script[string]>) =>
  ScriptedServer.make(speaking("2025-11-25", { "tools/call": reply }))

const complete = (server: ScriptedServer.ScriptedServer, elicitationId: string) =>
  server.notify("notifications/elicitation/complete", { elicitationId })

it.effect("[ELI-18] a request that needs a page first fails with the pages", () =>
  Effect.gen(function*() {
    const pages = ClientElicitation.layerUrl(() => Effect.die("nobody is asked"))
    const client = yield* connected(yield* serving(needed("a", "b")), pages)
    const { reason } = yield* Effect.flip(client.callTool("x"))
    assert.deepInclude(reason, { _tag: "UrlElicitationRequired", elicitations: [page("a"), page("b")] })
  }))

it.effect("[ELI-18] data that names no pages leaves the refusal what it is", () =>
  Effect.gen(function*() {
    for (const data of [undefined, {}, { elicitations: [{ url: "https://example.com/" }] }, { elicitations: "x" }]) {
      const reply = ScriptedServer.error(Codes.urlElicitationRequired, "Sign in", data)
      const client = yield* connected(yield* serving(reply), Layer.empty, { awaitUrls: "1 minute" })
      const { reason } = yield* Effect.flip(client.callTool("x"))
      assert.deepInclude(reason, { _tag: "Refused", code: Codes.urlElicitationRequired })
    }
  }))

it.effect("[ELI-18] with awaitUrls they are shown, waited for, and the request is sent again", () =>
  Effect.gen(function*() {
    const shown = yield* Ref.make<ReadonlyArray<string>>([])
    const all = yield* Deferred.make<void>()
    const pages = ClientElicitation.layerUrl(({ site }) =>
      Effect.gen(function*() {
        const now = yield* Ref.updateAndGet(shown, (urls) => [...urls, site.href])
        if (now.length === 2) yield* Deferred.succeed(all, undefined)
        return ClientElicitation.visit
      })
    )
    const server = yield* serving(refusing(1, "a", "b"))
    const client = yield* connected(server, pages, { awaitUrls: "1 minute" })
    const fiber = yield* Effect.forkChild(client.callTool("x"))
    yield* Deferred.await(all)
    yield* complete(server, "stranger")
    yield* complete(server, "a")
    yield* complete(server, "a")
    yield* settle
    assert.strictEqual(sentTo(server, "tools/call").length, 1)
    yield* complete(server, "b")
    assert.deepStrictEqual((yield* Fiber.join(fiber)).content, [{ type: "text", text: "done" }])
    assert.strictEqual(sentTo(server, "tools/call").length, 2)
    assert.deepStrictEqual(yield* Ref.get(shown), ["https://auth.example.com/a", "https://auth.example.com/b"])
  }))

it.effect("[ELI-18] a page that is done before its handler has answered counts", () =>
  Effect.gen(function*() {
    const server = yield* serving(refusing(1, "a"))
    const pages = ClientElicitation.layerUrl(() =>
      Effect.andThen(Effect.orDie(complete(server, "a")), Effect.as(settle, ClientElicitation.visit))
    )
    const client = yield* connected(server, pages, { awaitUrls: "1 minute" })
    yield* client.callTool("x")
    assert.strictEqual(sentTo(server, "tools/call").length, 2)
  }))

it.effect("[ELI-18] who does not want to go, or is not done in time, gets the failure with the pages", () =>
  Effect.gen(function*() {
    for (const answer of [ClientElicitation.decline, ClientElicitation.cancel, ClientElicitation.visit]) {
      const server = yield* serving(needed("a"))
      const pages = ClientElicitation.layerUrl(() => Effect.succeed(answer))
      const client = yield* connected(server, pages, { awaitUrls: "1 minute" })
      const fiber = yield* Effect.forkChild(Effect.flip(client.callTool("x")))
      yield* settle
      yield* TestClock.adjust("1 minute")
      const { reason } = yield* Fiber.join(fiber)
      assert.deepInclude(reason, { _tag: "UrlElicitationRequired" })
      assert.strictEqual(sentTo(server, "tools/call").length, 1)
    }
  }))

it.effect("[ELI-18] a server that is never satisfied is asked maxRounds times more", () =>
  Effect.gen(function*() {
    const server: ScriptedServer.ScriptedServer = yield* serving(needed("a"))
    const pages = ClientElicitation.layerUrl(() =>
      Effect.as(Effect.orDie(complete(server, "a")), ClientElicitation.visit)
    )
    const client = yield* connected(server, pages, { awaitUrls: "1 minute", maxRounds: 2 })
    const { reason } = yield* Effect.flip(client.callTool("x"))
    assert.deepInclude(reason, { _tag: "UrlElicitationRequired" })
    assert.strictEqual(sentTo(server, "tools/call").length, 3)
  }))
