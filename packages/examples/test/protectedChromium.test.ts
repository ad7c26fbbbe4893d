/** The same login in a real browser: its redirects, its rules for forms and pages, its extra requests. */
import { assert, describe, layer } from "@effect/vitest"
import { AuthError } from "@mcpfx/auth"
import { hasChromium, layerChromium } from "@mcpfx/tooling/chromium"
import { Effect, Layer, Option } from "effect"
import { Servers } from "../src/protected/main.ts"
import * as ChromiumBrowser from "./support/chromiumBrowser.ts"
import { expected, tourWith } from "./support/diaryClient.ts"
import { printed } from "./support/printed.ts"

describe.skipIf(!hasChromium())("in Chromium", () => {
  const Live = Layer.merge(Servers, layerChromium)
  layer(Live, { excludeTestServices: true, timeout: 60_000 })("a protected server", (it) => {
    it.effect(
      "[ACL-28] [ACL-22] a person reads who asks for what, agrees, and again for more",
      () =>
        Effect.gen(function*() {
          const { browser, seen } = yield* ChromiumBrowser.make("Allow")
          assert.deepStrictEqual(yield* printed(tourWith(browser)), expected)
          const { complaints, texts, titles } = yield* seen
          const [consent, arrived] = ["Allow access?", "You can close this page"]
          assert.deepStrictEqual(titles, [consent, arrived, consent, arrived])
          assert.include(texts[0] ?? "", "Diary reader")
          assert.include(texts[0] ?? "", "diary:read")
          assert.include(texts[2] ?? "", "diary:write")
          assert.deepStrictEqual(complaints, [])
        }),
      120_000
    )

    it.effect("[field AUT-23] a person says no", () =>
      Effect.gen(function*() {
        const { browser, seen } = yield* ChromiumBrowser.make("Deny")
        const error = yield* Effect.flip(tourWith(browser))
        const reason = Option.map(AuthError.find(error), (found) => found.reason._tag)
        assert.deepStrictEqual(reason, Option.some("LoginDenied"))
        const { complaints, titles } = yield* seen
        assert.deepStrictEqual(titles, ["Allow access?", "The login was denied"])
        assert.deepStrictEqual(complaints, [])
      }), 120_000)
  })
})
