import { assert, describe, it } from "@effect/vitest"
import { Effect, Tracer } from "effect"
import { ping } from "./support/http.ts"
import { connect, json, success } from "./support/httpClient.ts"

const sent = Effect.gen(function*() {
  const { link, seen } = yield* connect(() => json(success(1)))
  yield* link.send(ping)
  return seen[0]?.headers["traceparent"]
})

describe("the spans of requests", () => {
  it.effect("are not made, nor told of, where nobody would see them", () =>
    Effect.gen(function*() {
      assert.isUndefined(yield* sent)
    }))

  it.effect("[META-15] belong to the span around, which the server is told of", () =>
    Effect.gen(function*() {
      const traceparent = yield* sent
      const span = yield* Effect.currentSpan
      assert.include(traceparent ?? "none", span.traceId)
    }).pipe(Effect.withSpan("around")))

  it.effect("[META-15] are for the tracer that is installed", () =>
    Effect.gen(function*() {
      const spans: Array<Tracer.NativeSpan> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      const traceparent = yield* Effect.provideService(sent, Tracer.Tracer, tracer)
      assert.deepStrictEqual(spans.map(({ kind }) => kind), ["client"])
      assert.include(traceparent ?? "none", spans[0]?.spanId ?? "no span")
    }))

  it.effect("leave the context as it was", () =>
    Effect.gen(function*() {
      const before = yield* Effect.context<never>()
      yield* sent
      assert.deepStrictEqual((yield* Effect.context<never>()).mapUnsafe, before.mapUnsafe)
    }))
})
