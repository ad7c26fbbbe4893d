/** Sessions that are reached over their connections alone: nobody asks for one by its id, and each ends with its connection. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Session } from "../Session.ts"
import type { Sessions } from "../Sessions.ts"
import { type Entry, type Make, notFound, OpenSessions, scoped } from "./openSessions.ts"

class ConnectedSessions extends OpenSessions<Entry> {
  protected entered(session: Session, scope: Scope.Closeable): Entry {
    return { session, scope }
  }
}

export const makeConnected = (make: Make) =>
  Effect.map(scoped(make, (parts) => new ConnectedSessions(parts)), (directory): Sessions["Service"] => ({
    open: directory.open,
    get: notFound,
    terminate: notFound,
    count: directory.count,
    drain: directory.drain,
    closeAll: directory.closeAll
  }))
