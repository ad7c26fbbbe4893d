/**
 * What the client does with the messages of its server.
 *
 * Notifications go to whoever listens. What a server may ask for, forms and pages, the client's model and its roots, is
 * answered by the handler whose layer is there: `ClientElicitation`, `ClientSampling` and `ClientRoots` make them. What has
 * no handler is not declared as a capability and is refused with -32601 (ROO-03, CAP-02). The same handlers serve requests of
 * stateful revisions and what is asked for in the rounds of 2026-07-28.
 *
 * **Example** (What a client will declare)
 *
 * ```ts
 * import { ClientHandlers, ClientRoots } from "@mcpfx/client"
 * import { Effect } from "effect"
 *
 * const declared = Effect.map(ClientHandlers.current, (handlers) => ClientHandlers.declared(handlers))
 * Effect.runSync(Effect.provide(declared, ClientRoots.layer([{ uri: "file:///work" }]))) // => { roots: {} }
 * ```
 *
 * @since 0.1.0
 */
import * as Capabilities from "@mcpfx/schema/Capabilities"
import * as Elicitation from "@mcpfx/schema/Elicitation"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import type * as Method from "@mcpfx/schema/Method"
import * as Methods from "@mcpfx/schema/Methods"
import type { RequestCodec, Revision } from "@mcpfx/schema/Revision"
import type * as Roots from "@mcpfx/schema/Roots"
import type * as Sampling from "@mcpfx/schema/Sampling"
import type * as Handler from "@mcpfx/session/Handler"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Stream from "effect/Stream"
import type { AskContext } from "./AskContext.ts"
import { UnfitAnswer } from "./McpClientError.ts"
import type { Notifications } from "./Notifications.ts"

/**
 * Answers one kind of ask, in the neutral model, and the capability that says so. What it fails with is what the server
 * hears; a fault of its own is a defect.
 *
 * @category models
 * @since 0.1.0
 */
export interface Answerer<in Params, out Answer> {
  readonly capability: Capabilities.Client
  readonly answer: (params: Params, facts: AskContext["Service"]) => Effect.Effect<Answer, McpError.McpError>
}

/**
 * Answers `roots/list`, and says when the answer has become another.
 *
 * @category models
 * @since 0.1.0
 */
export interface RootsAnswerer extends Answerer<object, Roots.ListResult> {
  readonly changes?: Stream.Stream<unknown> | undefined
}

/** Who answers forms; nobody by default. @category references @since 0.1.0 */
export const CurrentForms = Context.Reference<Answerer<Elicitation.FormParams, Elicitation.Result> | undefined>(
  "@mcpfx/client/CurrentForms",
  { defaultValue: () => undefined }
)

/** Who answers pages to visit; nobody by default. @category references @since 0.1.0 */
export const CurrentPages = Context.Reference<Answerer<Elicitation.UrlParams, Elicitation.Result> | undefined>(
  "@mcpfx/client/CurrentPages",
  { defaultValue: () => undefined }
)

/** Who answers for the model; nobody by default. @category references @since 0.1.0 */
export const CurrentModel = Context.Reference<Answerer<Sampling.CreateParams, Sampling.CreateResult> | undefined>(
  "@mcpfx/client/CurrentModel",
  { defaultValue: () => undefined }
)

/** Who answers for the roots; nobody by default. @category references @since 0.1.0 */
export const CurrentRoots = Context.Reference<RootsAnswerer | undefined>("@mcpfx/client/CurrentRoots", {
  defaultValue: () => undefined
})

/**
 * The handlers of one client.
 *
 * @category models
 * @since 0.1.0
 */
export interface ClientHandlers {
  readonly forms: Answerer<Elicitation.FormParams, Elicitation.Result> | undefined
  readonly pages: Answerer<Elicitation.UrlParams, Elicitation.Result> | undefined
  readonly model: Answerer<Sampling.CreateParams, Sampling.CreateResult> | undefined
  readonly roots: RootsAnswerer | undefined
}

/**
 * The handlers that are in the context.
 *
 * @category getters
 * @since 0.1.0
 */
export const current: Effect.Effect<ClientHandlers> = Effect.all({
  forms: CurrentForms,
  pages: CurrentPages,
  model: CurrentModel,
  roots: CurrentRoots
})

/**
 * The capabilities of the handlers, added to what `extra` names besides (CAP-02). What has no handler is never declared
 * (LIF-13 of field practice).
 *
 * @category getters
 * @since 0.1.0
 */
export const declared = (handlers: ClientHandlers, extra: Capabilities.Client = {}): Capabilities.Client => {
  const { elicitation: _, roots: __, sampling: ___, ...rest } = extra
  const forms = handlers.forms?.capability.elicitation
  const pages = handlers.pages?.capability.elicitation
  return {
    ...rest,
    ...(forms === undefined && pages === undefined ? undefined : { elicitation: { ...forms, ...pages } }),
    ...handlers.model?.capability,
    ...handlers.roots?.capability
  }
}

/**
 * One thing asked for, unread, and the circumstances.
 *
 * @category models
 * @since 0.1.0
 */
export interface Ask {
  readonly params: JsonRpc.JsonObject | undefined
  readonly revision: Revision
  /** What the client has declared there. */
  readonly declared: Capabilities.Client
  readonly facts: AskContext["Service"]
}

/**
 * Answers one ask with a wire result of its revision. Fails with -32601 where nothing of the kind was declared and with
 * -32602 where the params do not fit or ask for a mode that was not (ELI-03, SMP-04).
 *
 * @category combinators
 * @since 0.1.0
 */
export const answer = (
  handlers: ClientHandlers,
  ask: Ask
): Effect.Effect<JsonRpc.JsonObject, McpError.McpError> => {
  const { declared: { elicitation, roots, sampling }, facts: { method } } = ask
  switch (method) {
    case Methods.ElicitationCreate.name:
      if (elicitation === undefined) break
      return serve(Methods.ElicitationCreate, ask, (params) => {
        const isUrl = Elicitation.isUrl(params)
        if (!Capabilities.covers(ask.declared, isUrl ? "elicitation.url" : "elicitation.form")) {
          return undeclared(isUrl ? "pages to visit" : "forms")
        }
        return isUrl ? handlers.pages?.answer(params, ask.facts) : handlers.forms?.answer(params, ask.facts)
      })
    case Methods.SamplingCreateMessage.name:
      if (sampling === undefined) break
      return serve(
        Methods.SamplingCreateMessage,
        ask,
        (params) =>
          (params.tools !== undefined || params.toolChoice !== undefined) &&
            !Capabilities.covers(ask.declared, "sampling.tools")
            ? undeclared("tools in sampling")
            : handlers.model?.answer(params, ask.facts)
      )
    case Methods.RootsList.name:
      if (roots === undefined) break
      return serve(Methods.RootsList, ask, (params) => handlers.roots?.answer(params, ask.facts))
  }
  return Effect.fail(new McpError.MethodNotFound({ method }))
}

const undeclared = (what: string) =>
  Effect.fail(new McpError.InvalidParams({ detail: `the client has not declared ${what}` }))

const serve = <Name extends string, Params, Answer, A extends Answer>(
  method: Method.RequestMethod<Name, Params, Answer>,
  { params, revision }: Ask,
  handle: (params: Params) => Effect.Effect<A, McpError.McpError> | undefined
): Effect.Effect<JsonRpc.JsonObject, McpError.McpError> => {
  const codec = revision.input(method) ?? revision.request(method)
  const decoded = codec?.decodeParams(params)
  if (codec === undefined || decoded === undefined) {
    return Effect.fail(new McpError.MethodNotFound({ method: method.name }))
  }
  if (Result.isFailure(decoded)) {
    return Effect.fail(new McpError.InvalidParams({ detail: decoded.failure.message() }))
  }
  const handled = handle(decoded.success)
  return handled === undefined
    ? Effect.fail(new McpError.MethodNotFound({ method: method.name }))
    : Effect.flatMap(handled, (answer) => written(codec, answer))
}

/** The answer on the wire; one that is none is the handler's fault, and is not sent. */
const written = <Params, Answer>(codec: RequestCodec<Params, Answer>, answer: Answer) => {
  const wire = codec.encodeResult(answer)
  const read = codec.decodeResult(wire)
  return Result.isSuccess(read)
    ? Effect.succeed(wire)
    : Effect.die(new UnfitAnswer({ method: codec.name, problems: [read.failure.message()] }))
}

/**
 * What a client's handler of messages needs to know.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly handlers: ClientHandlers
  readonly notifications: Notifications
  /** Whom the client is connected to. */
  readonly server: () => AskContext["Service"]["server"]
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ handlers, notifications, server }: Options): Handler.Handler["Service"] => ({
  request: ({ method, params }, { clientCapabilities, revision }) =>
    answer(handlers, {
      params,
      revision,
      declared: clientCapabilities,
      facts: { server: server(), revision: revision.version, method, during: undefined, round: 1 }
    }),
  notification: (notification, context) => Effect.sync(() => notifications.publish(notification, context.revision))
})
