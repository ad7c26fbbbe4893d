/** A browser without a window: it reads the consent page, sends its form, and goes where it is sent. */
import type { Browser } from "@mcpfx/node"
import { TestAuthorizationServer } from "@mcpfx/testing"
import { Effect, FiberSet } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"

/** `shown` is what it shows at the end of each login, once all of them are there. */
export const make = Effect.fnUntraced(function*(decision: "allow" | "deny") {
  const server = yield* TestAuthorizationServer.TestAuthorizationServer
  const client = yield* HttpClient.HttpClient
  const tabs = yield* FiberSet.make<void, never>()
  const shown: Array<string> = []
  const visit = Effect.fnUntraced(function*(url: URL) {
    const redirectUri = url.searchParams.get("redirect_uri") ?? ""
    const { open } = yield* server.userAgent({ decision, client, redirectUri }).visit([redirectUri])
    const arrival = yield* open(url, { issuer: server.issuer, resource: "" })
    const page = yield* client.get(arrival)
    shown.push(yield* page.text)
  })
  const browse = (url: URL) =>
    Effect.scoped(Effect.provideService(visit(url), FetchHttpClient.RequestInit, { redirect: "manual" }))
  const browser: Browser.Browser = {
    open: (url) => Effect.asVoid(FiberSet.run(tabs, Effect.orDie(browse(url))))
  }
  return { browser, shown: Effect.as(FiberSet.awaitEmpty(tabs), shown) }
})
