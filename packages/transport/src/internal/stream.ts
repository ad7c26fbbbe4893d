import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type { Link, LinkHolder } from "../Link.ts"
import { MessageTooLarge, TransportClosed, type TransportError } from "../TransportError.ts"
import * as events from "./events.ts"
import { byteLength, isLongerThan } from "./json.ts"
import { Outbox, type OutboxEnd, type OutboxSettings } from "./outbox.ts"

let streams = 0
const reasons: Readonly<Record<OutboxEnd, string>> = {
  ended: "The stream has ended",
  left: "The reader has left",
  dead: "The reader takes nothing"
}

export interface OpenStreamOptions {
  readonly outbox: OutboxSettings
  /** Bytes of the largest message to write. */
  readonly maxBytes: number
}

/**
 * A standalone event stream as a link, until one of the sides ends it. There are as many as there are idle clients, so it is
 * one object, and what is rarely asked for is made when it is.
 */
export class OpenStream extends Outbox implements Link {
  private readonly number = ++streams
  private readonly options: OpenStreamOptions
  /** What writes the response; cut off when its reader takes nothing any more. */
  private readonly fiber: Fiber.Fiber<unknown, unknown>
  private holder: LinkHolder | undefined = undefined
  private over: TransportClosed | undefined = undefined
  private ending: Deferred.Deferred<TransportError> | undefined = undefined

  constructor(options: OpenStreamOptions, fiber: Fiber.Fiber<unknown, unknown>) {
    super(options.outbox)
    this.options = options
    this.fiber = fiber
  }

  get id(): string {
    return `http-${this.number}`
  }

  get closed(): Effect.Effect<TransportError> {
    return Effect.suspend(() =>
      this.over === undefined
        ? Deferred.await(this.ending ??= Deferred.makeUnsafe<TransportError>())
        : Effect.succeed(this.over)
    )
  }

  get close(): Effect.Effect<void> {
    return Effect.sync(() => this.end())
  }

  heldBy(holder: LinkHolder): void {
    if (this.isOpen) this.holder = holder
    else holder.release(this)
  }

  /** Its response is over. */
  leave(): void {
    this.holder?.release(this)
    this.holder = undefined
    this.abort()
  }

  agreed(): Effect.Effect<void> {
    return Effect.void
  }

  send(message: JsonRpc.Outgoing): Effect.Effect<void, TransportError> {
    return Effect.suspend((): Effect.Effect<void, TransportError> => {
      const { maxBytes } = this.options
      const text = JsonRpc.stringify(message)
      if (isLongerThan(text, maxBytes)) {
        return Effect.fail(new MessageTooLarge({ bytes: byteLength(text), limit: maxBytes }))
      }
      return Effect.flatMap(
        this.put(events.plain.encode(text)),
        (written) => written ? Effect.void : Effect.flatMap(this.closed, Effect.fail)
      )
    })
  }

  protected override onClosed(end: OutboxEnd): void {
    this.over = new TransportClosed({ reason: reasons[end] })
    if (this.ending !== undefined) Deferred.doneUnsafe(this.ending, Exit.succeed(this.over))
    if (end === "dead") this.fiber.interruptUnsafe()
  }
}
