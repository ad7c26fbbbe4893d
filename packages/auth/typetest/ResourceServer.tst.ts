import { type AuthError, ResourceServer, type TokenVerifier } from "@mcpfx/auth"
import { type Effect, Layer, Option } from "effect"
import type { HttpRouter } from "effect/http"
import type { RateLimiter } from "effect/persistence"
import { describe, expect, test } from "tstyche"

const attempts = ResourceServer.attempts({ key: () => Option.none(), limit: 1, window: "1 minute" })

describe("ResourceServer", () => {
  test("needs a verifier, and a limiter only where attempts are counted", () => {
    expect(ResourceServer.make({})).type.toBe<
      Effect.Effect<ResourceServer.Protect, AuthError.AuthError, TokenVerifier.TokenVerifier>
    >()
    expect(ResourceServer.layer({}, () => Layer.empty)).type.toBe<
      Layer.Layer<never, AuthError.AuthError, TokenVerifier.TokenVerifier | HttpRouter.HttpRouter>
    >()
    expect(ResourceServer.layer({ attempts }, () => Layer.empty)).type.toBe<
      Layer.Layer<
        never,
        AuthError.AuthError,
        TokenVerifier.TokenVerifier | HttpRouter.HttpRouter | RateLimiter.RateLimiter
      >
    >()
  })
})
