/**
 * The parts of Effect that a server of MCP over standard streams has to have, and nothing else: a runtime, both streams, a
 * layer with a scope, fibers and time limits, schemas that decode and encode as JSON, errors, random ids and spans.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"

const Args = Schema.Struct({
  name: Schema.String,
  count: Schema.optionalKey(Schema.Int),
  kind: Schema.Union([Schema.Literals(["a", "b"]), Schema.Boolean]),
  list: Schema.Array(Schema.String),
  rest: Schema.Record(Schema.String, Schema.Unknown)
})
const codec = Schema.toCodecJson(Args)
const decode = Schema.decodeUnknownResult(codec)
const encode = Schema.encodeUnknownResult(codec)
const isArgs = Schema.is(Args)

class Refused extends Schema.TaggedError<Refused>("Refused")("Refused", { reason: Schema.String }) {}

class Work extends Context.Service<Work, {
  readonly start: (line: unknown) => Effect.Effect<void, Refused>
}>()("Work") {
  static readonly layer = Layer.effect(
    this,
    Effect.gen(function*() {
      const scope = yield* Effect.scope
      const random = yield* SecureRandom.SecureRandom
      yield* Scope.addFinalizerExit(scope, (exit) => Exit.isSuccess(exit) ? Effect.void : Effect.logError("failed"))
      const answer = (line: unknown) =>
        Effect.timeoutOrElse(Effect.delay(random.randomBytes(16), "1 second"), {
          duration: "1 minute",
          orElse: () => Effect.fail(new Refused({ reason: String(isArgs(line)) }))
        })
      const traced = (line: unknown) =>
        Effect.flatMap(
          Effect.makeSpan("answer", { kind: "server" }),
          (span) => Effect.withParentSpan(answer(line), span)
        )
      return {
        start: (line) => {
          const args = decode(line)
          return Result.isFailure(args)
            ? Effect.fail(new Refused({ reason: args.failure.message }))
            : Effect.sync(() => {
              Fiber.runIn(Effect.runFork(traced(encode(args.success))), scope)
            })
        }
      }
    })
  )
}

const serve = Effect.gen(function*() {
  const stdio = yield* Stdio.Stdio
  const work = yield* Work
  const read = Stream.runForEachArray(stdio.stdin, (chunks) => work.start(chunks))
  const write = Stream.run(Stream.make("ready\n"), stdio.stdout({ endOnDone: false }))
  yield* Effect.all([read, write], { concurrency: "unbounded", discard: true })
})

serve.pipe(
  Effect.provide(Layer.provideMerge(Layer.provide(Work.layer, SecureRandom.layerWebCrypto), NodeStdio.layer)),
  Effect.scoped,
  NodeRuntime.runMain
)
