import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
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
 * Open until `end` (the reader gets the rest) or `abort` (the reader is gone); whichever comes first calls `onClose`.
 */
export class Outbox implements Quiet {
  quietSince = Number.POSITIVE_INFINITY
  private readonly settings: OutboxSettings
  private readonly onClose: (end: OutboxEnd) => void
  private state: "open" | "ended" | "aborted" = "open"
  private waiting: Array<string> = []
  private size = 0
  /** Counts the reader's takes, to tell a slow reader from a dead one. */
  private takes = 0
  private reader: (() => void) | undefined = undefined
  /** Those that wait for room; most outboxes never fill. */
  private writers: Set<() => void> | undefined = undefined

  constructor(settings: OutboxSettings, onClose: (end: OutboxEnd) => void) {
    this.settings = settings
    this.onClose = onClose
  }

  get isOpen(): boolean {
    return this.state === "open"
  }

  /** Adds a text past every bound, for what must not wait. */
  add(text: string): void {
    if (this.state !== "open") return
    this.waiting.push(text)
    this.size += text.length
    this.reader?.()
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
    this.close("ended")
  }

  abort(end: "left" | "dead" = "left"): void {
    this.close(end)
    this.waiting = []
    this.size = 0
  }

  /** All there is, without a reader; for an outbox that ended before it was read. */
  drain(): string {
    const text = this.waiting.join("")
    this.waiting = []
    this.size = 0
    return text
  }

  /** The body of the response: starts with a comment where nothing waits, so that the head is sent. */
  get body(): Stream.Stream<Uint8Array> {
    if (this.waiting.length === 0) this.add(openingText)
    return Stream.fromPull(Effect.succeed(Effect.suspend(() => this.take())))
  }

  private take(): Pull.Pull<Chunk, never, void> {
    if (this.waiting.length > 0) {
      const bytes = utf8.encode(this.drain())
      this.takes++
      this.wakeWriters()
      return Effect.succeed([bytes])
    }
    if (this.state !== "open") return Cause.done()
    return Effect.flatMap(this.arrival(), () => this.take())
  }

  /** Waits for something to take, be it a keep-alive comment. */
  private arrival(): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      const { keepAlive } = this.settings
      this.quietSince = keepAlive.now()
      keepAlive.watch(this)
      // Assigned in two steps, as in `respond.ts`.
      const reader = () => {
        this.unwait()
        resume(Effect.void)
      }
      this.reader = reader
      return Effect.sync(() => this.unwait())
    })
  }

  /** The reader waits no more. */
  private unwait(): void {
    this.reader = undefined
    this.quietSince = Number.POSITIVE_INFINITY
  }

  stir(): void {
    if (this.waiting.length === 0) this.add(keepAliveText)
  }

  private hasRoom(text: string): boolean {
    return this.waiting.length === 0 ||
      (this.waiting.length < this.settings.messages && this.size + text.length <= this.settings.size)
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

  private close(end: OutboxEnd): void {
    if (this.state === "aborted") return
    const first = this.state === "open"
    this.state = end === "ended" ? "ended" : "aborted"
    if (!first) return
    this.settings.keepAlive.forget(this)
    this.reader?.()
    this.wakeWriters()
    this.onClose(end)
  }
}
