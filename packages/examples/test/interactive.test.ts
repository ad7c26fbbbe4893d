/** Asking works the same on a revision with sessions and on the one without, in memory and over HTTP. */
import { assert, describe, it } from "@effect/vitest"
import { ClientElicitation, McpClient } from "@mcpfx/client"
import { TestAnswers, TestServer } from "@mcpfx/testing"
import { Effect, Layer } from "effect"
import { FetchHttpClient, HttpServer } from "effect/http"
import { Answers, tour } from "../src/interactive/client.ts"
import { Deploy } from "../src/interactive/contract.ts"
import * as InteractiveHttp from "../src/interactive/http.ts"
import { Releases } from "../src/interactive/releases.ts"
import { Registrations } from "../src/interactive/server.ts"
import { printed } from "./support/printed.ts"

const expected = [
  "asked: Where shall shop 1.1 go?",
  "asked: shop 1.1 for everybody: are you sure?",
  "deployed 1.1 to production",
  "asked to visit releases.example.com: Log in to the code host",
  "connected to the code host",
  "asked the model 1 thing",
  "All is faster.",
  "file:///home/ada/shop",
  "asked: Who is the announcement for?",
  "asked the model 1 thing",
  "Dear all: All is faster. (shop)"
]

for (const revision of ["2025-11-25", "2026-07-28"] as const) {
  describe(`asking on ${revision}`, () => {
    it.live("in memory: every way of asking, and what is in a step is done once", () =>
      Effect.gen(function*() {
        const live = TestServer.layer(Registrations, { revision }).pipe(Layer.provide(Answers))
        const [first, ...lines] = yield* printed(Effect.provide(tour, live))
        assert.strictEqual(first, `connected on ${revision}`)
        assert.deepStrictEqual(lines, expected)
        const releases = yield* Releases
        assert.deepStrictEqual(yield* releases.deployed, ["1.1 on production"])
        assert.strictEqual(yield* releases.next, "1.2")
      }).pipe(Effect.provide(Releases.layer)))

    it.live("over HTTP: every way of asking", () =>
      Effect.gen(function*() {
        const { address } = yield* HttpServer.HttpServer
        const port = address._tag === "UnixPathAddress" ? 0 : address.port
        const live = McpClient.layerHttp({ url: `http://127.0.0.1:${port}/mcp`, revisions: [revision] }).pipe(
          Layer.provide(Answers),
          Layer.provide(FetchHttpClient.layer)
        )
        const [first, ...lines] = yield* printed(Effect.provide(tour, live))
        assert.strictEqual(first, `connected on ${revision}`)
        assert.deepStrictEqual(lines, expected)
      }).pipe(Effect.provide(InteractiveHttp.layer(0))), 60_000)

    it.live("in memory: a script answers, and a user who declines is no failure of the server", () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const { reason } = yield* Effect.flip(client.call(Deploy, { service: "shop" }))
        assert.strictEqual(reason._tag, "ToolFailed")
        const { left } = yield* TestAnswers.TestAnswers
        assert.strictEqual(left(), 0)
      }).pipe(
        Effect.provide(
          TestServer.layer(Registrations, {
            revision,
            answers: [TestAnswers.form({ env: "production" }), TestAnswers.form(ClientElicitation.decline)]
          }).pipe(Layer.provide(Releases.layer))
        )
      ))
  })
}
