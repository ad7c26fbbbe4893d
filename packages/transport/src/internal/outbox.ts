import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import * as Sse from "../Sse.ts"
import type { KeepAlive, Quiet } from "./keepAlive.ts"

export interface OutboxSettings {
  /** Messages that may wait before writers have to. */
  readonly messages: number
  /** Characters that may wait before writers have to; one message always fits an empty outbox. */
  readonly size: number
  /** Has it say something when it was quiet for long. */
  readonly keepAlive: KeepAlive
  /** How long the reader of a full outbox may take nothing. */
  readonly deadReader: Duration.Duration
}

type Chunk = Arr.NonEmptyReadonlyArray<Uint8Array>
type Taken = Pull.Pull<Chunk, never, void>

const utf8 = new TextEncoder()
const keepAliveText = Sse.comment("keepalive")
/** Something to send at once, so that the head of the response leaves with it. */
const openingText = Sse.comment()
const written = Effect.succeed(true)
const dropped = Effect.succeed(false)

/** Why an outbox closed: its writers were done, its reader left, or its reader took nothing for too long. */
export type OutboxEnd = "ended" | "left" | "dead"

/**
 * The events of one response that are not taken yet: bounded, with one reader and any number of writers.
 *
 * Open until `end` (the reader gets the rest) or `abort` (the reader is gone); whichever comes first calls `closed`.
 * Streams are idle for most of their life, so what an idle one keeps is a few fields and the place its reader waits in.
 */
export abstract class Outbox implements Quiet {
  quietSince: number | undefined = undefined
  private readonly settings: OutboxSettings
  private state: "open" | "ended" | "aborted" = "open"
  /** What waits, one text after the other, and how many there are. */
  private waiting = ""
  private count = 0
  /** Counts the reader's takes, to tell a slow reader from a dead one. */
  private takes = 0
  private reader: ((taken: Taken) => void) | undefined = undefined
  /** Those that wait for room; most outboxes never fill. */
  private writers: Set<() => void> | undefined = undefined

  constructor(settings: OutboxSettings) {
    this.settings = settings
  }

  /** Called once, when it closes. */
  protected abstract onClosed(end: OutboxEnd): void

  get isOpen(): boolean {
    return this.state === "open"
  }

  /** Adds a text past every bound, for what must not wait. */
  add(text: string): void {
    if (this.state !== "open") return
    this.waiting += text
    this.count++
    this.wakeReader()
  }

  /** Adds a text as soon as there is room; `false` when the outbox closed instead. To be called inside an effect. */
  put(text: string): Effect.Effect<boolean> {
    if (this.state !== "open") return dropped
    if (!this.hasRoom(text)) return this.putLater(text)
    this.add(text)
    return written
  }

  /** Waits while it is full; `false` when it closed instead. To be called inside an effect. */
  room(): Effect.Effect<boolean> {
    if (this.state !== "open") return dropped
    return this.hasRoom("") ? written : Effect.flatMap(this.arrivalOfRoom(), () => this.room())
  }

  end(): void {
    this.shut("ended")
  }

  abort(end: "left" | "dead" = "left"): void {
    this.shut(end)
    this.clear()
  }

  /** All there is, without a reader; for an outbox that ended before it was read. */
  drain(): string {
    const text = this.waiting
    this.clear()
    return text
  }

  /**
   * The body of the response. Where nothing waits it starts with nothing at all, which has servers send the head, and a
   * comment, for those that send it with something. Node joins the head to the first bytes there are and keeps it in all
   * the pieces it was made of; a head that goes by itself is one text, and half a KiB less for as long as the stream is idle.
   */
  get body(): Stream.Stream<Uint8Array> {
    if (this.count === 0) this.add(openingText)
    // What `Stream.fromPull` makes, with fewer closures.
    const pull = Effect.suspend(() => this.opening() ?? this.take() ?? this.arrival())
    return Stream.fromChannel(Channel.fromTransform(() => Effect.succeed(pull)))
  }

  private opening(): Taken | undefined {
    if (this.takes > 0 || this.waiting !== openingText) return undefined
    this.takes = 1
    return Effect.succeed([new Uint8Array(0)])
  }

  /** What there is for the reader, be it the end; `undefined` while there is nothing. */
  private take(): Taken | undefined {
    if (this.count > 0) {
      const bytes = utf8.encode(this.drain())
      this.takes++
      this.wakeWriters()
      return Effect.succeed([bytes])
    }
    return this.state === "open" ? undefined : Cause.done()
  }

  /**
   * Waits for something to take, be it a keep-alive comment. There is nothing to undo when the reader is interrupted: its
   * response is over then, and this outbox with it.
   */
  private arrival(): Taken {
    return Effect.callback((resume) => this.wait(resume))
  }

  private wait(reader: (taken: Taken) => void): void {
    const { keepAlive } = this.settings
    this.quietSince = keepAlive.now()
    keepAlive.watch(this)
    this.reader = reader
  }

  private wakeReader(): void {
    const { reader } = this
    if (reader === undefined) return
    this.reader = undefined
    this.quietSince = undefined
    const taken = this.take()
    if (taken !== undefined) reader(taken)
  }

  private clear(): void {
    this.waiting = ""
    this.count = 0
  }

  stir(): void {
    if (this.count === 0) this.add(keepAliveText)
  }

  private hasRoom(text: string): boolean {
    return this.count === 0 ||
      (this.count < this.settings.messages && this.waiting.length + text.length <= this.settings.size)
  }

  private putLater(text: string): Effect.Effect<boolean> {
    return Effect.flatMap(this.arrivalOfRoom(), () => this.put(text))
  }

  /** Waits until the reader has taken something; one that takes nothing for too long is given up. */
  private arrivalOfRoom(): Effect.Effect<void> {
    const before = this.takes
    return Effect.callback<void>((resume) => {
      const wake = () => resume(Effect.void)
      const writers = this.writers ??= new Set()
      writers.add(wake)
      return Effect.sync(() => {
        writers.delete(wake)
      })
    }).pipe(
      Effect.timeoutOrElse({
        duration: this.settings.deadReader,
        orElse: () =>
          Effect.sync(() => {
            if (this.takes === before) this.abort("dead")
          })
      })
    )
  }

  private wakeWriters(): void {
    if (this.writers === undefined) return
    const woken = [...this.writers]
    this.writers.clear()
    for (const wake of woken) wake()
  }

  private shut(end: OutboxEnd): void {
    if (this.state === "aborted") return
    const first = this.state === "open"
    this.state = end === "ended" ? "ended" : "aborted"
    if (!first) return
    this.settings.keepAlive.forget(this)
    this.wakeReader()
    this.wakeWriters()
    this.onClosed(end)
  }
}

/** An outbox that tells somebody else. */
export class WatchedOutbox extends Outbox {
  private readonly watcher: (end: OutboxEnd) => void

  constructor(settings: OutboxSettings, watcher: (end: OutboxEnd) => void) {
    super(settings)
    this.watcher = watcher
  }

  protected override onClosed(end: OutboxEnd): void {
    this.watcher(end)
  }
}
