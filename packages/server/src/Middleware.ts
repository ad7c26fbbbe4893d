/**
 * Code that runs around handlers: it sees each decoded request and its result before that is encoded, may change both,
 * and may provide services for the handler.
 *
 * @since 0.1.0
 */
import type * as ToolContract from "@mcpfx/schema/ToolContract"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { type Call, isToolCall, type Target, type ToolCall } from "./Call.ts"
import type { HandlerServices, RequestServices } from "./Entry.ts"
import { capture, type Captured } from "./internal/capture.ts"
import { Around, Check, CurrentEnclosing, type Enclosing, extend, type Run } from "./internal/enclosing.ts"
import { isReturned } from "./internal/toolCall.ts"
import type { Registry } from "./Registry.ts"
import { type Refusal, ResultMismatch, Unhandled } from "./ServerError.ts"
import type { Returned } from "./ServerTool.ts"

/**
 * Goes on with the call, as it came or changed. Gives what the handler returned: what that can be, the contract says.
 *
 * @category models
 * @since 0.1.0
 */
export interface Next<out Provides = never> {
  (call: Call): Effect.Effect<unknown, Unhandled, Provides | RequestServices>
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Fn<in Provides, out Fails, out R> {
  (next: Next<Provides>, call: Call): Effect.Effect<unknown, Fails | Unhandled, R | RequestServices>
}

/**
 * What middleware may fail with, beside what it lets pass: a protocol error, which is sent as such, or an error whose
 * message is for the caller. The message becomes a result with `isError` for tools, `-32602` for everything else.
 *
 * @category models
 * @since 0.1.0
 */
export type Failure = Refusal | { readonly message: string }

class Installed extends Context.Service<Installed, Around | Check>()("@mcpfx/server/Middleware/Installed") {}

const TypeId = "~@mcpfx/server/Middleware"

/**
 * Middleware that can be laid around registrations with {@link apply}.
 *
 * `Provides` are the services that handlers get from it. `Requires` are those that it needs itself when a call comes in,
 * from middleware further out or else from the layer it is built in. `E` and `RIn` belong to its building.
 *
 * @category models
 * @since 0.1.0
 */
export interface Middleware<in out Provides, out Requires = never, out E = never, out RIn = never> {
  readonly [TypeId]: {
    readonly provides: (_: Provides) => Provides
    readonly requires: (_: never) => Requires
  }
  readonly id: string
  /** Built once for each endpoint. */
  readonly install: Layer.Layer<Installed, E, RIn>
}

const makeMiddleware = <Provides, Requires, E, RIn>(
  id: string,
  install: Layer.Layer<Installed, E, RIn>
): Middleware<Provides, Requires, E, RIn> => ({
  [TypeId]: { provides: identity, requires: identity },
  id,
  install
})

/**
 * Lays `fn` around what runs further in.
 *
 * The function runs with the services of its own layer; what runs further in does not see them, but sees what the function
 * provided.
 */
const around = <Provides, Fails, R>(id: string, fn: Fn<Provides, Fails, R>, captured: Captured<R>): Around =>
  new Around((inner: Run): Run => {
    const passing = (call: Call): Effect.Effect<unknown, Unhandled, RequestServices> =>
      Effect.mapError(inner(call), (error) => error instanceof Unhandled ? error : new Unhandled(error, undefined))
    return (call) =>
      Effect.contextWith((outer: Context.Context<RequestServices>) => {
        const next: Next<Provides> = (call) =>
          Effect.updateContext(
            passing(call),
            (context: Context.Context<Provides | RequestServices>) => captured.leave(context, outer)
          )
        const running: Effect.Effect<unknown, Fails | Unhandled, R | RequestServices> = Effect.suspend(() =>
          fn(next, call)
        )
        return Effect.mapError(
          Effect.updateContext(running, captured.enter),
          (error) => error instanceof Unhandled ? error : new Unhandled(error, id)
        )
      })
  })

/**
 * Middleware from a function, or from an effect that gives one and runs once for each endpoint.
 *
 * The function gets `next` and the decoded call. It provides `Provides` to what `next` gives, and may fail with `Fails`.
 * Services that it needs are taken from its layer, except those of the request. On 2026-07-28 it runs once for each round.
 *
 * **Example** (Telling handlers who calls)
 *
 * ```ts
 * import { Middleware } from "@mcpfx/server"
 * import { CurrentPrincipal } from "@mcpfx/transport/Principal"
 * import { Context, Effect, Option } from "effect"
 *
 * class User extends Context.Service<User, { readonly name: string }>()("User") {}
 *
 * const CurrentUser = Middleware.make<User>()("user", (next, call) =>
 *   Effect.flatMap(CurrentPrincipal, (principal) =>
 *     Effect.provideService(next(call), User, {
 *       name: Option.match(principal, { onNone: () => "anonymous", onSome: ({ subject }) => subject })
 *     })))
 * CurrentUser.id // => "user"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <Provides = never, Fails extends Failure = never>() =>
<R = never, E = never, RIn = never>(
  id: string,
  middleware: Fn<Provides, Fails, R> | Effect.Effect<Fn<Provides, Fails, R>, E, RIn>
): Middleware<Provides, Exclude<R, HandlerServices>, E, Exclude<RIn, Scope.Scope> | Registry> => {
  const building = Effect.isEffect(middleware) ? middleware : Effect.succeed(middleware)
  return makeMiddleware(
    id,
    Layer.effect(
      Installed,
      Effect.flatMap(building, (fn) => Effect.map(capture<R>(), (captured) => around(id, fn, captured)))
    )
  )
}

/**
 * Middleware around the calls of one tool: it has the arguments and the result in the types of the contract. Everything
 * else passes by.
 *
 * **Example** (Rounding a result)
 *
 * ```ts
 * import { Tool } from "@mcpfx/schema"
 * import { Middleware } from "@mcpfx/server"
 * import { Effect, Schema } from "effect"
 *
 * const Measure = Tool.make("measure", { input: { times: Schema.Int }, output: Schema.Finite })
 * const Rounded = Middleware.forTool()("rounded", Measure, (next, { times }) =>
 *   Effect.map(next({ times: Math.max(times, 1) }), (value) => typeof value === "number" ? Math.round(value) : value))
 * Rounded.id // => "rounded"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const forTool = <Fails extends Failure = never>() =>
<Name extends string, Input, Output, Failed, R = never>(
  id: string,
  contract: ToolContract.Contract<Name, Input, Output, Failed>,
  fn: (
    next: (input: NoInfer<Input>) => Effect.Effect<Returned<NoInfer<Output>>, Unhandled, RequestServices>,
    input: NoInfer<Input>,
    call: ToolCall<NoInfer<Input>>
  ) => Effect.Effect<Returned<NoInfer<Output>>, Fails | Unhandled, R>
): Middleware<never, Exclude<R, HandlerServices>, never, Registry> => {
  const isResult = isReturned<Output>(contract)
  const broken = Effect.die(new ResultMismatch({ kind: "tool", name: contract.name, detail: "it is of another type" }))
  return make<never, Fails>()<R | RequestServices>(id, (next, call) =>
    isToolCall(call, contract)
      ? fn(
        (input) =>
          Effect.flatMap(
            next({ ...call, arguments: input }),
            (result) => isResult(result) ? Effect.succeed(result) : broken
          ),
        call.arguments,
        call
      )
      : next(call))
}

/**
 * Hides registrations from callers: a hidden one is not listed, and answers as one that does not exist (SCH-19 of field
 * practice). `check` is asked for each request and must answer at once.
 *
 * **Example** (Tools for those who signed in)
 *
 * ```ts
 * import { Middleware } from "@mcpfx/server"
 * import { Option } from "effect"
 *
 * const signedIn = Middleware.visibility((context) => Option.isSome(context.facts.principal))
 * signedIn.id // => "visibility"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const visibility = (
  check: (context: RequestContext["Service"], target: Target) => boolean
): Middleware<never> => makeMiddleware("visibility", Layer.succeed(Installed, new Check(check)))

/**
 * Gives middleware services of its own: what it needs is then no longer required around it, and handlers do not see it.
 *
 * @category combinators
 * @since 0.1.0
 */
export const provide = <Provides, Requires, E, RIn, A, E2, RIn2>(
  middleware: Middleware<Provides, Requires, E, RIn>,
  layer: Layer.Layer<A, E2, RIn2>
): Middleware<Provides, Exclude<Requires, A>, E | E2, Exclude<RIn, A> | RIn2> =>
  makeMiddleware(middleware.id, Layer.provide(middleware.install, layer))

/**
 * The services that middleware gives to handlers.
 *
 * @category type-level
 * @since 0.1.0
 */
export type ProvidedBy<M> = M extends Middleware<infer Provides, infer _Requires, infer _E, infer _RIn> ? Provides
  : never

type RequiredBy<M> = M extends Middleware<infer _Provides, infer Requires, infer _E, infer _RIn> ? Requires : never
type BuildErrorOf<M> = M extends Middleware<infer _Provides, infer _Requires, infer E, infer _RIn> ? E : never
type BuiltWith<M> = M extends Middleware<infer _Provides, infer _Requires, infer _E, infer RIn> ? RIn : never

/**
 * What is still required of `R` after middleware, outermost first, has given what it provides and added what it requires.
 *
 * @category type-level
 * @since 0.1.0
 */
export type Open<R, Middlewares extends ReadonlyArray<unknown>> = Middlewares extends
  readonly [...infer Outer, infer Inner] ? Open<Exclude<R, ProvidedBy<Inner>> | RequiredBy<Inner>, Outer>
  : R

interface Installable {
  readonly install: Layer.Layer<Installed, unknown, unknown>
}

const installAll = (middleware: ReadonlyArray<Installable>): Layer.Layer<never, unknown, unknown> =>
  Layer.fromBuild((memoMap, scope) =>
    Effect.gen(function*() {
      let enclosing: Enclosing = yield* CurrentEnclosing
      for (const { install } of middleware) {
        const installed = yield* Layer.buildWithMemoMap(install, memoMap, scope)
        enclosing = extend(enclosing, Context.get(installed, Installed))
      }
      return Context.make(CurrentEnclosing, enclosing)
    })
  )

/**
 * Lays middleware around every registration in a layer; the first is the outermost. What it provides is no longer required
 * by the registrations, what it requires is.
 *
 * Middleware that already stands around a registration is not added a second time. A registration that is used both with
 * and without middleware is two of one name, and fails to build.
 *
 * **Example** (Middleware around a group)
 *
 * ```ts
 * import { Middleware } from "@mcpfx/server"
 * import { Layer } from "effect"
 *
 * const Logged = Middleware.make()("logged", (next, call) => next(call))
 * const Hidden = Middleware.visibility(() => false)
 * const Group = Layer.empty.pipe(Middleware.apply(Logged, Hidden))
 * Layer.isLayer(Group) // => true
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export function apply<const Middlewares extends ReadonlyArray<Installable>>(
  ...middleware: Middlewares
): <A, E, R>(
  registrations: Layer.Layer<A, E, R>
) => Layer.Layer<A, E | BuildErrorOf<Middlewares[number]>, Open<R, Middlewares> | BuiltWith<Middlewares[number]>>
export function apply(
  ...middleware: ReadonlyArray<Installable>
): (registrations: Layer.Layer<never, unknown, unknown>) => Layer.Layer<never, unknown, unknown> {
  return (registrations) => Layer.provide(registrations, installAll(middleware))
}
