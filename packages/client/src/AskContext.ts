/**
 * Who asks, and why: the facts of an ask for the handler that answers it.
 *
 * @since 0.1.0
 */
import type * as Implementation from "@mcpfx/schema/Implementation"
import type { Version } from "@mcpfx/schema/Revision"
import * as Context from "effect/Context"
import type * as Scope from "effect/Scope"

/**
 * What a handler of asks finds in its context. Whoever is shown a question is shown whose it is (ELI-08).
 *
 * **Example** (A question with the name of the server)
 *
 * ```ts
 * import { AskContext, ClientElicitation } from "@mcpfx/client"
 * import { Effect } from "effect"
 *
 * const Forms = ClientElicitation.layerForm(({ message }) =>
 *   Effect.gen(function*() {
 *     const { server } = yield* AskContext.AskContext
 *     yield* Effect.log(`${server.info?.title ?? server.info?.name ?? server.target}: ${message}`)
 *     return ClientElicitation.decline
 *   }))
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export class AskContext extends Context.Service<AskContext, {
  readonly server: {
    /** The command or the address the client was told to connect to. */
    readonly target: string
    /** How the server calls itself: for display, never for decisions (META-10). */
    readonly info: Implementation.Implementation | undefined
  }
  readonly revision: Version
  /** What is asked: `elicitation/create`, `sampling/createMessage` or `roots/list`. */
  readonly method: string
  /** The request of this client that needs the answer; `undefined` on stateful revisions, which do not say. */
  readonly during: string | undefined
  /** How often that request has come back with asks, from 1; 1 on stateful revisions. */
  readonly round: number
}>()("@mcpfx/client/AskContext") {}

/**
 * What every handler of asks is given: the facts, and a scope that closes with its answer.
 *
 * @category models
 * @since 0.1.0
 */
export type AskServices = AskContext | Scope.Scope
