/** Login, scopes and step-up, from the first refusal to the logout: over HTTP, with a browser that is a few lines long. */
import { assert, layer } from "@effect/vitest"
import { AuthError } from "@mcpfx/auth"
import { TestAuthorizationServer } from "@mcpfx/testing"
import { Effect, Layer, Option } from "effect"
import { FetchHttpClient } from "effect/http"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { diaryUrl, Servers } from "../src/protected/main.ts"
import { expected, tourWith } from "./support/diaryClient.ts"
import { printed } from "./support/printed.ts"
import * as ScriptedBrowser from "./support/scriptedBrowser.ts"

const Live = Layer.merge(Layer.fresh(Servers), FetchHttpClient.layer)

layer(Live, { excludeTestServices: true })("a protected server", (it) => {
  it.effect("[ACL-28] logs in for what is needed, asks again for more, and logs out", () =>
    Effect.gen(function*() {
      const { browser, shown } = yield* ScriptedBrowser.make("allow")
      assert.deepStrictEqual(yield* printed(tourWith(browser)), expected)
      const pages = yield* shown
      assert.lengthOf(pages, 2)
      assert.include(pages[0] ?? "", "You can close this page")

      const { count, requests } = yield* TestAuthorizationServer.TestAuthorizationServer
      assert.strictEqual(yield* count("consent"), 2)
      assert.strictEqual(yield* count("register"), 1)
      const asked = (yield* requests).filter(({ endpoint }) => endpoint === "authorize")
      const url = yield* diaryUrl
      assert.deepStrictEqual(asked.map(({ parameters: { resource, scope } }) => [resource, scope]), [
        [url, "diary:read"],
        [url, "diary:read diary:write"]
      ])
    }), 60_000)

  it.effect("[field AUT-23] a person who says no is a typed failure, at once", () =>
    Effect.gen(function*() {
      const { browser, shown } = yield* ScriptedBrowser.make("deny")
      const error = yield* Effect.flip(tourWith(browser))
      const reason = Option.map(AuthError.find(error), (found) => found.reason._tag)
      assert.deepStrictEqual(reason, Option.some("LoginDenied"))
      assert.include((yield* shown)[0] ?? "", "The login was denied")
    }), 60_000)

  it.effect(
    "[field AUT-17] without a browser and a terminal the program says so and fails, and names no page",
    () =>
      Effect.sync(() => {
        const main = fileURLToPath(new URL("../src/protected/main.ts", import.meta.url))
        const env = { ...process.env, CI: "true" }
        const { status, stderr, stdout } = spawnSync(process.execPath, [main], { env, input: "", encoding: "utf8" })
        assert.include(stderr, "needs a login: no browser was opened")
        assert.notInclude(stdout + stderr, "Its page is")
        assert.notInclude(stdout + stderr, "/authorize?")
        assert.strictEqual(status, 1)
      }),
    60_000
  )
})
