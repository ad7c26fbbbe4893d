/**
 * Asking the client from a handler: its user, its model, its directories.
 *
 * One handler serves every revision. Up to 2025-11-25 a question is a request to the client, and the handler waits for the
 * answer. On 2026-07-28 the answer comes with another request: the handler ends at the question, without noticing, and runs
 * again from its start with the answers so far. Whatever it does before a question that must not be done twice belongs in a
 * `Step`.
 *
 * **Details**
 *
 * Every question may fail with {@link InputError}. A handler that does not look at these failures leaves them to the caller:
 * as a result with `isError` in tools, as `-32602` with the reason in prompts and resources.
 *
 * **Gotchas**
 *
 * - Secrets are never asked for by a form: {@link elicitUrl} has the user enter them on a page of yours (ELI-01).
 * - A question in an uninterruptible region, or one that loses a race before it was sent, is a defect on 2026-07-28.
 *
 * **Example** (Asking before doing)
 *
 * ```ts
 * import { Tool } from "@mcpfx/schema"
 * import { Input, McpServer } from "@mcpfx/server"
 * import { Effect, Layer, Schema } from "effect"
 *
 * const Deploy = Tool.make("deploy", { input: { env: Schema.String }, asks: ["elicitation.form"] })
 * const DeployLive = McpServer.tool(Deploy, ({ env }) =>
 *   Effect.gen(function*() {
 *     const { confirm } = yield* Input.elicit(`Deploy to ${env}?`, Schema.Struct({ confirm: Schema.Boolean }))
 *     return confirm ? `deploying to ${env}` : "not deployed"
 *   }))
 * Layer.isLayer(DeployLive) // => true
 * ```
 *
 * @since 0.1.0
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import * as FormContract from "@mcpfx/schema/FormContract"
import type { InputRequest } from "@mcpfx/schema/InputRequired"
import type { JsonObject } from "@mcpfx/schema/JsonRpc"
import * as Roots from "@mcpfx/schema/Roots"
import * as Sampling from "@mcpfx/schema/Sampling"
import * as SamplingTurns from "@mcpfx/schema/SamplingTurns"
import { RequestContext } from "@mcpfx/session/RequestContext"
import * as Suspended from "@mcpfx/session/Suspended"
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { dual } from "effect/Function"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { AskMisplaced, TurnsMismatch } from "./AskError.ts"
import type { Asking } from "./Entry.ts"
import { bring } from "./internal/asking.ts"
import { formRequest } from "./internal/formRequest.ts"
import { CurrentStep } from "./internal/interaction.ts"
import { makeAsks } from "./internal/makeAsks.ts"
import { pageOf } from "./internal/pages.ts"
import { isSuspending } from "./internal/single.ts"
import { type Question, together } from "./internal/together.ts"
import { interactionOf } from "./internal/wayToAsk.ts"
import { Cancelled, Declined, type InputError, Unanswered } from "./ServerError.ts"

export { choices } from "@mcpfx/schema/FormContract"

bring(makeAsks)

/**
 * What asking needs: a request whose client can be asked.
 *
 * @category models
 * @since 0.1.0
 */
export type Services = RequestContext | Asking

/**
 * What every question takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * What the question is called: within one request no two questions have the same key. By default a key is made of what is
   * asked, which serves unless the text of a question changes between two passes.
   */
  readonly key?: string | undefined
  /**
   * How long the client may take; past it, `AskTimeout`. By default 10 minutes (`askTimeout`), on 2026-07-28 as long as the
   * state of the round lives (`stateLife`), past which the client's next request is refused.
   */
  readonly timeout?: Duration.Input | undefined
}

const ask = (
  asks: readonly [Capabilities.Ask, ...ReadonlyArray<Capabilities.Ask>],
  request: InputRequest,
  options: Options | undefined
): Effect.Effect<JsonObject, InputError, Services> =>
  Effect.contextWith((context: Context.Context<RequestContext>) =>
    Context.get(context, CurrentStep) !== undefined
      ? Effect.die(new AskMisplaced({ where: "step", key: options?.key ?? request.method }))
      : interactionOf(context).ask({
        asks,
        request,
        key: options?.key,
        timeout: options?.timeout === undefined ? undefined : Duration.fromInputUnsafe(options.timeout)
      })
  )

/** What the user did with something they were shown. */
const accepted = (
  ask: "elicitation.form" | "elicitation.url",
  answer: JsonObject
): Effect.Effect<JsonObject, InputError> => {
  switch (answer["action"]) {
    case "accept":
      return Effect.succeed(answer)
    case "decline":
      return Effect.fail(new Declined({ ask }))
    case "cancel":
      return Effect.fail(new Cancelled({ ask }))
    default:
      return Effect.fail(new Unanswered({ ask, reason: "invalid" }))
  }
}

const noContent = {}

const formAsks = ["elicitation.form"] as const

/**
 * Has the user fill in a form (ELI-05, ELI-06). The schema is a struct of texts, numbers, booleans and choices; see
 * `FormContract` for what is shown of it. A schema that cannot be a form is a defect. The answer is read by the schema
 * (ELI-10): one that does not fit is `Unanswered`.
 *
 * @category asking
 * @since 0.1.0
 */
export const elicit = <A>(
  message: string,
  schema: FormContract.Form<A>,
  options?: Options
): Effect.Effect<A, InputError, Services> =>
  Effect.suspend(() => {
    const contract = FormContract.make(schema)
    return Effect.flatMap(ask(formAsks, formRequest(message, contract.form), options), (answer) =>
      Effect.flatMap(accepted("elicitation.form", answer), ({ content }) => {
        const value = contract.decode(content ?? noContent)
        return Result.isSuccess(value) ? Effect.succeed(value.success) : Effect.fail(
          new Unanswered({ ask: "elicitation.form", reason: "invalid", detail: value.failure.message() })
        )
      }))
  })

/**
 * What {@link elicitUrl} takes: the page, and what every question takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface UrlOptions extends Options {
  /** What the page is for, for the user to read. */
  readonly message: string
  /** The page: `https:`, or `http:` on the user's own machine. It holds nothing that gives access by itself (ELI-12). */
  readonly url: string
  /** What the client knows the visit by, on 2025-11-25; made up by default. */
  readonly elicitationId?: string | undefined
}

/**
 * A visit that the user has agreed to; not that anything was done there.
 *
 * @category models
 * @since 0.1.0
 */
export interface Page {
  readonly elicitationId: string
  /** Tells the client that the visit is over (ELI-18): on 2025-11-25, to this client alone, also after the request. */
  readonly complete: Effect.Effect<void>
}

/**
 * Has the user visit a page of yours, from 2025-11-25 on: for what must not pass through the client, such as secrets and the
 * consent to other services (ELI-01). Succeeds when the user has agreed to open it.
 *
 * On 2026-07-28 the request comes again, so the page's address must come out the same: keep random parts of it in a `Step`.
 *
 * @category asking
 * @since 0.1.0
 */
export const elicitUrl = (options: UrlOptions): Effect.Effect<Page, InputError, Services> =>
  Effect.contextWith((context: Context.Context<RequestContext>) => {
    const page = pageOf(Context.get(context, RequestContext), options)
    return Effect.flatMap(
      ask(["elicitation.url"], { method: "elicitation/create", params: page.params }, options),
      (answer) => Effect.as(accepted("elicitation.url", answer), page.page)
    )
  })

const isSample = Schema.is(Sampling.CreateResult)
const isRoots = Schema.is(Roots.ListResult)

const needs = (
  params: Sampling.CreateParams
): readonly [Capabilities.Ask, ...ReadonlyArray<Capabilities.Ask>] =>
  params.tools === undefined && params.toolChoice === undefined ? ["sampling"] : ["sampling", "sampling.tools"]

/**
 * Asks the client's model. `tools` and `toolChoice` need a client that declared them (SMP-04); `includeContext` is left out
 * for one that did not declare `sampling.context` (SMP-08). Messages in which calls of tools and their results do not pair are
 * a defect (SMP-05). A user who says no is `Declined`, on revisions that tell.
 *
 * @category asking
 * @since 0.1.0
 */
export const sample = (
  params: Sampling.CreateParams,
  options?: Options
): Effect.Effect<Sampling.CreateResult, InputError, Services> =>
  Effect.contextWith((context: Context.Context<RequestContext>) => {
    const { clientCapabilities, revision } = Context.get(context, RequestContext)
    const { includeContext, ...rest } = params
    const problem = SamplingTurns.problem(params.messages)
    if (problem !== undefined) return Effect.die(new TurnsMismatch({ detail: problem }))
    // Before 2025-11-25 there was nothing to declare.
    const may = clientCapabilities.sampling?.context !== undefined || revision.version < "2025-11-25"
    const asked = includeContext === undefined || (includeContext !== "none" && !may) ? rest : params
    return Effect.flatMap(
      ask(needs(params), { method: "sampling/createMessage", params: asked }, options),
      (answer) =>
        isSample(answer)
          ? Effect.succeed(answer)
          : Effect.fail(new Unanswered({ ask: "sampling", reason: "invalid" }))
    )
  })

/**
 * {@link roots} with a key or a deadline.
 *
 * @category asking
 * @since 0.1.0
 */
export const rootsWith = (options: Options): Effect.Effect<ReadonlyArray<Roots.Root>, InputError, Services> =>
  Effect.flatMap(ask(["roots"], { method: "roots/list" }, options), (answer) =>
    isRoots(answer)
      ? Effect.succeed(answer.roots)
      : Effect.fail(new Unanswered({ ask: "roots", reason: "invalid" })))

/**
 * Asks for the directories the client lets the server work in. What comes are the words of the client: paths are checked
 * before they are used (ROO-05).
 *
 * @category asking
 * @since 0.1.0
 */
export const roots: Effect.Effect<ReadonlyArray<Roots.Root>, InputError, Services> = rootsWith({})

/**
 * Asks several things at the same time: each at once up to 2025-11-25, in one round on 2026-07-28. The first that fails
 * gives up the others.
 *
 * **Example** (Two questions in one round)
 *
 * ```ts
 * import { Input } from "@mcpfx/server"
 * import { Effect, Schema } from "effect"
 *
 * const both = Input.all({
 *   answer: Input.elicit("Which branch?", Schema.Struct({ branch: Schema.String })),
 *   roots: Input.roots
 * })
 * const branch = Effect.map(both, ({ answer, roots }) => [answer.branch, roots.length] as const)
 * ```
 *
 * @category asking
 * @since 0.1.0
 */
export function all<const Questions extends ReadonlyArray<Question>>(
  questions: Questions
): Effect.Effect<
  { -readonly [K in keyof Questions]: Effect.Success<Questions[K]> },
  Effect.Error<Questions[number]>,
  Effect.Services<Questions[number]> | Services
>
export function all<const Questions extends { readonly [name: string]: Question }>(
  questions: Questions
): Effect.Effect<
  { -readonly [K in keyof Questions]: Effect.Success<Questions[K]> },
  Effect.Error<Questions[keyof Questions]>,
  Effect.Services<Questions[keyof Questions]> | Services
>
export function all(
  questions: ReadonlyArray<Question> | { readonly [name: string]: Question }
): Effect.Effect<unknown, unknown, unknown> {
  if (isList(questions)) return together(questions)
  const names = Object.keys(questions)
  return Effect.map(
    together(Object.values(questions)),
    (answers) => Object.fromEntries(names.map((name, index) => [name, answers[index]]))
  )
}

const isList = (
  questions: ReadonlyArray<Question> | { readonly [name: string]: Question }
): questions is ReadonlyArray<Question> => Array.isArray(questions)

/**
 * Whether a handler, or a part of one, ended because the client was asked and has not answered yet: on 2026-07-28 it runs
 * again with the answer. Finalizers see this where they would see a cancellation otherwise.
 *
 * Fibers that a handler started are interrupted by it, without the mark: there {@link onCancel} knows the difference.
 *
 * @category guards
 * @since 0.1.0
 */
export const isSuspended: (self: Exit.Exit<unknown, unknown> | Cause.Cause<unknown>) => boolean = Suspended.isSuspended

/**
 * Runs `finalizer` when `self` is interrupted for good: the client cancelled or left, or the server stops. Not when the
 * handler ends at a question and will run again.
 *
 * **Example** (Undoing what a cancelled call began)
 *
 * ```ts
 * import { Input } from "@mcpfx/server"
 * import { Effect, Schema } from "effect"
 *
 * const confirm = Input.elicit("Sure?", Schema.Struct({ sure: Schema.Boolean })).pipe(
 *   Input.onCancel(Effect.log("the call was cancelled"))
 * )
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const onCancel: {
  <R2>(finalizer: Effect.Effect<void, never, R2>): <A, E, R>(
    self: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, R | R2>
  <A, E, R, R2>(
    self: Effect.Effect<A, E, R>,
    finalizer: Effect.Effect<void, never, R2>
  ): Effect.Effect<A, E, R | R2>
} = dual(2, <A, E, R, R2>(
  self: Effect.Effect<A, E, R>,
  finalizer: Effect.Effect<void, never, R2>
): Effect.Effect<A, E, R | R2> =>
  Effect.onExit(self, (exit) =>
    Exit.isSuccess(exit) || !Exit.hasInterrupts(exit) || isSuspended(exit)
      ? Effect.void
      : Effect.withFiber((fiber) => isSuspending(fiber.context) ? Effect.void : finalizer)))
