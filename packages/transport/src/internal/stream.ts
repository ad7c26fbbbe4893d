import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { Link } from "../Link.ts"
import { MessageTooLarge, TransportClosed, type TransportError } from "../TransportError.ts"
import type { EventEncoder } from "./events.ts"
import { byteLength, isLongerThan } from "./json.ts"
import { Outbox, type OutboxEnd, type OutboxSettings } from "./outbox.ts"

export interface OpenStream {
  readonly link: Link
  readonly body: () => Stream.Stream<Uint8Array>
  /** Ends the stream after what was sent. */
  readonly end: () => void
}

let streams = 0
const reasons: Readonly<Record<OutboxEnd, string>> = {
  ended: "The stream has ended",
  left: "The reader has left",
  dead: "The reader takes nothing"
}

/**
 * A standalone event stream as a link, until the scope closes or one of the sides ends it; `onDead` is called when that was
 * a reader that took nothing any more.
 */
export const openStream = (
  settings: OutboxSettings,
  maxBytes: number,
  events: EventEncoder,
  onDead: () => void
): Effect.Effect<OpenStream, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const closed = Deferred.makeUnsafe<TransportError>()
        const outbox = new Outbox(settings, (end) => {
          Deferred.doneUnsafe(closed, Exit.succeed(new TransportClosed({ reason: reasons[end] })))
          if (end === "dead") onDead()
        })
        if (events.prime !== undefined) outbox.add(events.prime)
        return { closed, outbox }
      }),
      ({ outbox }) => Effect.sync(() => outbox.abort())
    ),
    ({ closed, outbox }) => {
      const send = (message: JsonRpc.Outgoing): Effect.Effect<void, TransportError> =>
        Effect.suspend((): Effect.Effect<void, TransportError> => {
          const text = JsonRpc.stringify(message)
          if (isLongerThan(text, maxBytes)) {
            return Effect.fail(new MessageTooLarge({ bytes: byteLength(text), limit: maxBytes }))
          }
          return Effect.flatMap(
            outbox.put(events.encode(text)),
            (written) => written ? Effect.void : Effect.flatMap(Deferred.await(closed), Effect.fail)
          )
        })
      return {
        link: {
          id: `http-${++streams}`,
          send,
          closed: Deferred.await(closed),
          agreed: () => Effect.void,
          close: Effect.sync(() => outbox.end())
        },
        body: () => outbox.body,
        end: () => outbox.end()
      }
    }
  )
