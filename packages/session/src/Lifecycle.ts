/**
 * Which message may move a session from where it is to where. Pure: no Effect, no clock, no IO.
 *
 * A server's session is `Fresh` until `initialize` comes, `Negotiating` while that is being answered, `Initializing` until
 * `notifications/initialized` and `Ready` then. A client's session goes from `Fresh` to `Ready` when its own handshake is
 * done. Requests that come early are served or wait; they are never fatal.
 *
 * @since 0.1.0
 */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import type { CloseReason } from "./SessionError.ts"

/**
 * Where a session is; `A` is what was agreed.
 *
 * @category models
 * @since 0.1.0
 */
export type State<A> =
  | { readonly _tag: "Fresh" }
  /** `early`: the notification that ends the handshake came before its answer went out. */
  | { readonly _tag: "Negotiating"; readonly agreed: A; readonly early: boolean }
  | { readonly _tag: "Initializing"; readonly agreed: A }
  | { readonly _tag: "Ready"; readonly agreed: A }
  | { readonly _tag: "Closed"; readonly agreed: A | undefined; readonly reason: CloseReason }

/**
 * What to do with a request: serve it; answer a ping; begin the handshake; serve it once the handshake is answered; or
 * refuse it, and why.
 *
 * @category models
 * @since 0.1.0
 */
export type Verdict = "Serve" | "Ping" | "Initialize" | "Wait" | "NotInitialized" | "AlreadyInitialized" | "Closed"

/**
 * @category constructors
 * @since 0.1.0
 */
export const fresh: State<never> = { _tag: "Fresh" }

/**
 * A session that was agreed elsewhere: by the client's own handshake, by another process, or by a request itself.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ready = <A>(agreed: A): State<A> => ({ _tag: "Ready", agreed })

/**
 * What becomes of a request (PNG-01, LIF-01, LIF-07).
 *
 * @category transitions
 * @since 0.1.0
 */
export const request = <A>(state: State<A>, method: string): Verdict => {
  switch (state._tag) {
    case "Ready":
    case "Initializing":
      if (method === Methods.Initialize.name) return "AlreadyInitialized"
      return method === Methods.Ping.name ? "Ping" : "Serve"
    case "Negotiating":
      if (method === Methods.Initialize.name) return "AlreadyInitialized"
      return method === Methods.Ping.name ? "Ping" : "Wait"
    case "Fresh":
      if (method === Methods.Initialize.name) return "Initialize"
      return method === Methods.Ping.name ? "Ping" : "NotInitialized"
    case "Closed":
      return "Closed"
  }
}

/**
 * `initialize` came and these are its terms.
 *
 * @category transitions
 * @since 0.1.0
 */
export const negotiate = <A>(state: State<A>, agreed: A): State<A> =>
  state._tag === "Fresh" ? { _tag: "Negotiating", agreed, early: false } : state

/**
 * The answer to `initialize` is about to go out.
 *
 * @category transitions
 * @since 0.1.0
 */
export const answered = <A>(state: State<A>): State<A> =>
  state._tag !== "Negotiating" ? state : { _tag: state.early ? "Ready" : "Initializing", agreed: state.agreed }

/**
 * `initialize` was refused or taken back: the client may try again.
 *
 * @category transitions
 * @since 0.1.0
 */
export const refused = <A>(state: State<A>): State<A> => state._tag === "Negotiating" ? fresh : state

/**
 * `notifications/initialized` came (LIF-06).
 *
 * @category transitions
 * @since 0.1.0
 */
export const initialized = <A>(state: State<A>): State<A> => {
  if (state._tag === "Initializing") return ready(state.agreed)
  return state._tag === "Negotiating" ? { ...state, early: true } : state
}

/**
 * The client's handshake is done, or its terms changed; or a session that another process began goes on here, where
 * `notifications/initialized` may still have to come.
 *
 * @category transitions
 * @since 0.1.0
 */
export const establish = <A>(state: State<A>, agreed: A, initialized = true): State<A> => {
  if (state._tag === "Closed") return state
  return initialized ? ready(agreed) : { _tag: "Initializing", agreed }
}

/**
 * The session is over; the first reason stays.
 *
 * @category transitions
 * @since 0.1.0
 */
export const close = <A>(state: State<A>, reason: CloseReason): State<A> =>
  state._tag === "Closed" ? state : { _tag: "Closed", agreed: agreed(state), reason }

/**
 * What is agreed, from the moment the answer to `initialize` goes out.
 *
 * @category getters
 * @since 0.1.0
 */
export const agreed = <A>(state: State<A>): A | undefined => {
  switch (state._tag) {
    case "Fresh":
    case "Negotiating":
      return undefined
    default:
      return state.agreed
  }
}

/**
 * Why an array of messages may not come in: the revision has no batches, it is empty or too long, or it holds
 * `initialize` (RPC-10, RPC-11, RPC-12). `undefined` if it may.
 *
 * @category getters
 * @since 0.1.0
 */
export const batchRefusal = (
  revision: Revision | undefined,
  messages: ReadonlyArray<JsonRpc.Message>,
  maxLength: number
): string | undefined => {
  if (revision === undefined) return "a batch cannot come before initialize"
  if (!revision.features.batching) return `revision ${revision.version} has no batches`
  if (messages.length === 0) return "a batch is not empty"
  if (messages.length > maxLength) return `a batch has at most ${maxLength} messages`
  return messages.some((message) => "method" in message && message.method === Methods.Initialize.name)
    ? "initialize is never part of a batch"
    : undefined
}
