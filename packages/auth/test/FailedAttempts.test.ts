/** Callers that fail too often. */
import { assert, describe, it } from "@effect/vitest"
import { ResourceServer, TokenVerifier } from "@mcpfx/auth"
import { Effect, Layer, Logger, Option } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { RateLimiter } from "effect/persistence"
import { TestClock } from "effect/testing"
import { bearer, origin, type Send, serve } from "./support/protecting.ts"

const attempts = ResourceServer.attempts({
  key: ({ headers }) => Option.fromNullishOr(headers["x-address"]),
  limit: 3,
  window: "3 minutes"
})

const memory = Layer.provide(RateLimiter.layer, RateLimiter.layerStoreMemory)

const make = (limiter: Layer.Layer<RateLimiter.RateLimiter> = memory) => {
  const asked: Array<string> = []
  const verifier = Layer.effect(
    TokenVerifier.TokenVerifier,
    Effect.map(TokenVerifier.TokenVerifier, (inner) => ({
      ...inner,
      verify: (token, names) => {
        asked.push("once")
        return inner.verify(token, names)
      }
    }))
  ).pipe(Layer.provide(TokenVerifier.layerStatic({ tokens: { good: { subject: "ada" } } })))
  const Protected = Layer.provide(
    HttpRouter.add("*", "/mcp", HttpServerResponse.text("in")),
    ResourceServer.middleware({ resource: origin, attempts }).layer
  )
  return Effect.map(serve(Protected.pipe(Layer.provide(verifier), Layer.provide(limiter))), (send) => ({ asked, send }))
}

const attempt = (send: Send, token: string | undefined, address?: string) =>
  send("POST", "/mcp", {
    ...(token === undefined ? undefined : bearer(token)),
    ...(address === undefined ? undefined : { "x-address": address })
  })

describe("failed attempts", () => {
  it.effect("after so many failures a caller waits, and what it sends is not looked at", () =>
    Effect.gen(function*() {
      const { asked, send } = yield* make()
      for (let time = 0; time < 3; time++) assert.strictEqual((yield* attempt(send, "bad", "a")).status, 401)
      const refused = yield* attempt(send, "bad", "a")
      assert.strictEqual(refused.status, 429)
      assert.isAtLeast(Number(refused.headers.get("retry-after")), 1)
      const looked = asked.length
      assert.strictEqual((yield* attempt(send, "good", "a")).status, 429)
      assert.strictEqual(asked.length, looked)
      assert.strictEqual((yield* attempt(send, "good", "b")).status, 200)
      yield* TestClock.adjust("3 minutes")
      assert.strictEqual((yield* attempt(send, "good", "a")).status, 200)
    }))

  it.effect("neither good tokens count, nor none at all, nor callers that nobody knows", () =>
    Effect.gen(function*() {
      const { send } = yield* make()
      for (let time = 0; time < 10; time++) {
        assert.strictEqual((yield* attempt(send, "good", "a")).status, 200)
        assert.strictEqual((yield* attempt(send, undefined, "a")).status, 401)
        assert.strictEqual((yield* attempt(send, "bad")).status, 401)
      }
      assert.strictEqual((yield* attempt(send, "bad", "a")).status, 401)
    }))

  it.effect("where nothing can be counted bad tokens are refused all the same", () =>
    Effect.gen(function*() {
      const consume = () =>
        Effect.fail(
          new RateLimiter.RateLimiterError({
            reason: new RateLimiter.RateLimitStoreError({ message: "down", cause: undefined })
          })
        )
      const broken = Layer.effect(
        RateLimiter.RateLimiter,
        Effect.map(RateLimiter.make, (limiter) => ({ ...limiter, consume }))
      ).pipe(Layer.provide(RateLimiter.layerStoreMemory))
      const { send } = yield* make(broken)
      for (let time = 0; time < 10; time++) assert.strictEqual((yield* attempt(send, "bad", "a")).status, 401)
      assert.strictEqual((yield* attempt(send, "good", "a")).status, 200)
    }).pipe(Effect.provide(Logger.layer([]))))
})
