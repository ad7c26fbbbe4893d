import { assert, describe, it } from "@effect/vitest"
import { AuthError, OAuthClient } from "@mcpfx/auth"
import { Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import { spokenTime } from "../src/internal/spokenTime.ts"
import { grant, issuer, server, World } from "./support/world.ts"

const message = (reason: AuthError.Reason) => new AuthError.AuthError({ reason }).message

describe("messages", () => {
  it("say times as people do", () => {
    const rows: ReadonlyArray<readonly [number, string]> = [
      [0, "0 milliseconds"],
      [250, "250 milliseconds"],
      [1000, "1 second"],
      [10_000, "10 seconds"],
      [60_000, "1 minute"],
      [90_000, "1 minute 30 seconds"],
      [600_000, "10 minutes"],
      [599_999, "10 minutes"],
      [3_600_000, "1 hour"],
      [5_400_000, "1 hour 30 minutes"]
    ]
    for (const [millis, text] of rows) assert.strictEqual(spokenTime(millis), text)
    assert.strictEqual(
      message(new AuthError.LoginTimedOut({ issuer, millis: 600_000 })),
      `nobody finished the login at ${issuer} within 10 minutes`
    )
  })

  it("[field AUT-04] name each address that a search tried, whatever it came to", () => {
    const attempts = [{ url: `${issuer}/a`, outcome: "status 503" }, {
      url: `${issuer}/b`,
      outcome: "it does not answer"
    }]
    const detail = "no metadata of the authorization server can be had now"
    assert.strictEqual(
      message(new AuthError.Unavailable({ url: `${issuer}/a`, status: 503, detail, attempts })),
      `${detail}: ${issuer}/a (status 503), ${issuer}/b (it does not answer)`
    )
    assert.strictEqual(
      message(new AuthError.Unavailable({ url: `${issuer}/a`, detail: "it does not answer" })),
      `${issuer}/a is not available: it does not answer`
    )
  })

  it.effect("quote an address of the server that is none, without what may be secret in it", () =>
    Effect.gen(function*() {
      const rows: ReadonlyArray<readonly [given: string, shown: string]> = [
        ["", ""],
        ["mcp.example/mcp?key=s3cret", "mcp.example/mcp?…"],
        ["https://user:s3cret@", "https://…@"],
        ["//user:s3cret@mcp.example/mcp", "//…@mcp.example/mcp"]
      ]
      for (const [url, shown] of rows) {
        const Live = OAuthClient.layer({ url, grant: grant() }).pipe(
          Layer.provide(Layer.succeed(HttpClient.HttpClient, new World().client))
        )
        const error = yield* Effect.flip(Effect.scoped(Layer.build(Live)))
        assert.strictEqual(error.message, `"${shown}", the url of the server, is not a URL`)
      }
      assert.isTrue(URL.canParse(server))
    }))
})
