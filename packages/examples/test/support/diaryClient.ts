/** The client of the protected example, with a browser of the test's. */
import { Browser, LoopbackLogin } from "@mcpfx/node"
import { Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { connect, tour } from "../../src/protected/client.ts"
import { diaryUrl } from "../../src/protected/main.ts"

export const tourWith = (browser: Browser.Browser) =>
  Effect.gen(function*() {
    const Client = connect(yield* diaryUrl).pipe(
      Layer.provide(LoopbackLogin.layer({ print: () => Effect.void })),
      Layer.provide(Layer.succeed(Browser.CurrentBrowser, browser)),
      Layer.provide(FetchHttpClient.layer)
    )
    yield* Effect.provide(tour, Client)
  })

/** What the tour prints for somebody who agrees to everything. */
export const expected = [
  "ada has 0 pages",
  "logged in for diary:read",
  "now there are 1",
  "logged in for diary:read diary:write",
  "Anonymous"
]
