/** A link to the server, and the sessions that are held on it one after another. */
import * as Codes from "@mcpfx/schema/Codes"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type { Revision } from "@mcpfx/schema/Revision"
import type * as Handler from "@mcpfx/session/Handler"
import * as Session from "@mcpfx/session/Session"
import type { ClientTransport } from "@mcpfx/transport/ClientTransport"
import { type Endpoint, Rejected } from "@mcpfx/transport/Endpoint"
import type { Link } from "@mcpfx/transport/Link"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { ConnectionLost, fromPeer, type McpClientError, reasonOf } from "../McpClientError.ts"

export interface Opened {
  readonly link: Link
  /** A session on this link, in the place of the one before. */
  readonly begin: (established?: Session.Established) => Effect.Effect<Session.Session, never, Scope.Scope>
  /** Whether the session is over. */
  readonly over: () => boolean
  /** Whether the link itself has ended. */
  readonly gone: () => boolean
  /** Why either is. */
  readonly lost: () => ConnectionLost
}

export interface Options {
  readonly transport: ClientTransport["Service"]
  readonly handler: Handler.Handler["Service"]
  readonly revisions: ReadonlyArray<Revision>
}

/** Opens a link; it ends with the scope. */
export const open = Effect.fnUntraced(function*(
  { handler, revisions, transport }: Options
): Effect.fn.Return<Opened, McpClientError, Scope.Scope> {
  let session: Session.Session | undefined
  let over = false
  let gone = false
  let why = new ConnectionLost({ detail: "the connection has ended" })
  // Ids go on over the sessions of a link: an answer that comes late is never taken for one to a later session.
  let ids = 0
  const idFormat = (): JsonRpc.RequestId => ++ids

  const link = yield* Effect.mapError(transport.connect(endpointOf(() => session)), (error) => fromPeer(error))
  yield* Effect.forkScoped(Effect.map(link.closed, (error) => {
    const reason = reasonOf(error)
    gone = true
    if (reason._tag === "ConnectionLost") why = reason
  }))

  const begin = Effect.fnUntraced(function*(established?: Session.Established) {
    const made: Session.Session = yield* Session.make({
      id: link.id,
      role: "client",
      handler,
      link,
      revisions,
      established,
      idFormat,
      onClosed: (reason) => {
        gone ||= reason === "disconnected"
        over ||= session === made
      }
    })
    session = made
    over = gone
    return made
  })

  return { link, begin, over: () => over, gone: () => gone, lost: () => why }
})

/** What the transport hands its messages to, while sessions come and go. */
const endpointOf = (session: () => Session.Session | undefined): Endpoint["Service"] => {
  const none = Effect.fail(new Rejected({ code: Codes.invalidRequest, message: "Not a server" }, 405))
  return {
    handle: (exchange) => session()?.accept(exchange) ?? Effect.succeed({}),
    admitBatch: () => Effect.void,
    attach: () => none,
    terminate: () => none
  }
}
