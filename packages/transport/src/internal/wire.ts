import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Scheduler from "effect/Scheduler"
import type { Endpoint } from "../Endpoint.ts"
import type { Limits } from "../Limits.ts"
import { type Agreement, type Link, Sending } from "../Link.ts"
import { MessageTooLarge, TransportClosed, type TransportError } from "../TransportError.ts"
import { Inbound, type InboundOptions } from "./inbound.ts"
import { byteLength, isLongerThan } from "./json.ts"
import { Outbox } from "./lineOutbox.ts"
import type { RequestOutlet, Sink } from "./outlets.ts"
import * as Refusals from "./refusals.ts"
import { unreadableIdOn } from "./versions.ts"

export interface WireOptions {
  readonly transport: "memory" | "stdio"
  readonly endpoint: Endpoint["Service"]
  readonly limits: Limits
  /** Bytes of the longest message to write. */
  readonly maxOut: number
  readonly unreadable: InboundOptions["unreadable"]
  /** What the log lines are written with. */
  readonly context: Context.Context<never>
}

let connections = 0
const always = (): boolean => true

/**
 * One connection of lines: what comes in goes to the endpoint, what the endpoint says goes to the outbox, whose texts
 * somebody else has to carry.
 */
export class Wire implements Sink {
  readonly inbound: Inbound
  readonly outbox: Outbox
  readonly link: Link
  /** Completes when the connection has ended. */
  readonly closed: Effect.Effect<TransportClosed>
  private readonly options: WireOptions
  private readonly closing = Deferred.makeUnsafe<TransportClosed>()
  private closeReason: TransportClosed | undefined = undefined
  private readonly open = new Set<RequestOutlet>()
  private idle: ((effect: Effect.Effect<void>) => void) | undefined = undefined

  constructor(options: WireOptions, dispatcher: Scheduler.SchedulerDispatcher) {
    this.options = options
    this.outbox = new Outbox({
      maxMessages: options.limits.outgoingMessages,
      maxBytes: options.limits.outgoingBytes,
      deadReader: options.limits.deadReader,
      dispatcher,
      onDeadReader: () => this.close(new TransportClosed({ reason: "The peer stopped reading" }))
    })
    this.closed = Deferred.await(this.closing)
    this.link = {
      id: `${options.transport}-${++connections}`,
      send: (message) => new LineSending(this, message),
      closed: this.closed,
      agreed: (agreement) => Effect.sync(() => this.agreed(agreement))
    }
    this.inbound = new Inbound({
      endpoint: options.endpoint,
      facts: {
        transport: options.transport,
        connection: this.link,
        sessionId: undefined,
        protocolVersion: undefined,
        headers: undefined,
        principal: Option.none()
      },
      limits: options.limits,
      maxOut: options.maxOut,
      sink: this,
      unreadable: options.unreadable,
      onOpen: (outlet) => this.open.add(outlet)
    })
  }

  get maxBytes(): number {
    return this.options.maxOut
  }

  /** Whether `settle` is to be run before more is read. */
  get unsettled(): boolean {
    return this.inbound.unsettled || this.outbox.crowded
  }

  /** Succeeds once everything that was read is admitted and the outbox has room for what it leads to. */
  readonly settle: Effect.Effect<void> = Effect.suspend(() => Effect.andThen(this.inbound.settle, this.outbox.room))

  encodeAnswer(message: JsonRpc.Outgoing, id: JsonRpc.RequestId): string {
    const encoded = Result.try(() => JsonRpc.stringify(message))
    if (Result.isFailure(encoded)) {
      Effect.runForkWith(this.options.context)(Effect.logError("An answer could not be encoded", encoded.failure))
      return JsonRpc.stringify(JsonRpc.failure(id, Refusals.internalError))
    }
    return isLongerThan(encoded.success, this.options.maxOut)
      ? JsonRpc.stringify(JsonRpc.failure(id, Refusals.resultTooLarge(this.options.maxOut)))
      : encoded.success
  }

  writeLine(line: string): void {
    this.outbox.offer(line)
  }

  pushLine(message: JsonRpc.Outgoing, wanted: () => boolean): Effect.Effect<void> {
    const line = this.encode(message)
    return typeof line === "string"
      ? Effect.asVoid(this.outbox.send(line, wanted))
      : Effect.catch(line, (error) => Effect.logWarning("A message was not sent", error))
  }

  onClose(outlet: RequestOutlet): void {
    this.open.delete(outlet)
    const idle = this.idle
    if (idle === undefined || this.open.size > 0) return
    this.idle = undefined
    idle(Effect.void)
  }

  /** Succeeds once every request that came in is answered or ended. */
  readonly drained: Effect.Effect<void> = Effect.suspend(() =>
    this.open.size === 0 ? Effect.void : Effect.callback<void>((resume) => {
      this.idle = resume
      return Effect.sync(() => {
        this.idle = undefined
      })
    })
  )

  /** Tells the requests in flight that nobody will read their answers. */
  abandon(): void {
    for (const outlet of Array.from(this.open)) {
      const disconnected = outlet.disconnected
      outlet.end()
      if (disconnected !== undefined) disconnected()
    }
  }

  /** Ends the connection, once; the first reason stays. */
  close(reason: TransportClosed): void {
    if (this.closeReason !== undefined) return
    this.closeReason = reason
    this.outbox.close()
    this.abandon()
    Deferred.doneUnsafe(this.closing, Exit.succeed(reason))
  }

  private agreed(agreement: Agreement): void {
    this.inbound.unreadableId = unreadableIdOn(agreement.version)
  }

  private encode(message: JsonRpc.Outgoing): string | Exit.Exit<never, MessageTooLarge> {
    const encoded = Result.try(() => JsonRpc.stringify(message))
    if (Result.isFailure(encoded)) return Exit.die(encoded.failure)
    const limit = this.options.maxOut
    return isLongerThan(encoded.success, limit)
      ? Exit.fail(new MessageTooLarge({ bytes: byteLength(encoded.success), limit }))
      : encoded.success
  }

  /** Puts a message out where there is room for it, or says why it cannot be. */
  sendNow(message: JsonRpc.Outgoing): Exit.Exit<void, TransportError> | undefined {
    if (this.closeReason !== undefined) return Exit.fail(this.closeReason)
    if (!this.outbox.hasRoom) return undefined
    const line = this.encode(message)
    if (typeof line !== "string") return line
    this.outbox.put(line)
    return Exit.void
  }

  /** Puts a message out once there is room for it. */
  sendLater(message: JsonRpc.Outgoing): Effect.Effect<void, TransportError> {
    const line = this.encode(message)
    return typeof line === "string"
      ? Effect.flatMap(this.outbox.send(line, always), (sent) => sent ? Effect.void : this.failClosed)
      : line
  }

  private readonly failClosed: Effect.Effect<never, TransportClosed> = Effect.suspend(() =>
    Effect.fail(this.closeReason ?? new TransportClosed({ reason: "The connection is closing" }))
  )
}

class LineSending extends Sending {
  private readonly wire: Wire
  private readonly message: JsonRpc.Outgoing

  constructor(wire: Wire, message: JsonRpc.Outgoing) {
    super()
    this.wire = wire
    this.message = message
  }

  attempt(): Exit.Exit<void, TransportError> | undefined {
    return this.wire.sendNow(this.message)
  }

  asEffect(): Effect.Effect<void, TransportError> {
    return this.attempt() ?? this.wire.sendLater(this.message)
  }
}

export const make = (options: Omit<WireOptions, "context">): Effect.Effect<Wire> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.map(Scheduler.Scheduler, (scheduler) => new Wire({ ...options, context }, scheduler.makeDispatcher()))
  )
