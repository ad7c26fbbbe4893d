import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import type * as Scheduler from "effect/Scheduler"
import * as Stream from "effect/Stream"

/** Lines are written together until a write has about this many characters. */
const segmentSize = 65_536
/** A longer line is written in pieces, so that a slow reader is seen to make progress. */
const pieceSize = 524_288

interface Segment {
  text: string
  messages: number
  answers: number
  answerUnits: number
}

interface Waiter {
  readonly line: string
  readonly wanted: () => boolean
  readonly resume: (effect: Effect.Effect<boolean>) => void
}

export interface OutboxOptions {
  readonly maxMessages: number
  /** Measured in UTF-16 units: bounding memory needs no exact bytes. */
  readonly maxBytes: number
  /** How long a full outbox may stand still. */
  readonly deadReader: Duration.Duration
  readonly dispatcher: Scheduler.SchedulerDispatcher
  /** Called when a full outbox stood still for too long. */
  readonly onDeadReader: () => void
}

/**
 * The lines on their way out of one connection: written in order, many to a write.
 *
 * Answers are put in without waiting; whoever reads the requests has to stop while the outbox is crowded with them.
 * Everything else waits in line while the outbox is full, and does not stop the reading: two sides that each wait for the
 * other to read would wait for ever. One consumer takes from `pull`; what it took counts as queued until it comes back.
 */
export class Outbox {
  private readonly options: OutboxOptions
  private segments: Array<Segment> = []
  private messages = 0
  private units = 0
  private answers = 0
  private answerUnits = 0
  /** What the consumer is busy with. */
  private taken: Segment | undefined = undefined
  private takenUnits = 0
  private waiters: Array<Waiter> = []
  private roomWaiters: Array<(effect: Effect.Effect<void>) => void> = []
  private consumer: ((effect: Pull.Pull<Arr.NonEmptyReadonlyArray<string>>) => void) | undefined = undefined
  private watcher: ((effect: Effect.Effect<void>) => void) | undefined = undefined
  private corked = false
  private scheduled = false
  private state: "open" | "ending" | "closed" = "open"
  /** Grows whenever the consumer comes back; a watch on a full outbox looks at it. */
  private progress = 0

  constructor(options: OutboxOptions) {
    this.options = options
  }

  get full(): boolean {
    return this.messages >= this.options.maxMessages || this.units >= this.options.maxBytes
  }

  /** Whether as many answers are queued as there may be. */
  get crowded(): boolean {
    return this.answers >= this.options.maxMessages || this.answerUnits >= this.options.maxBytes
  }

  /** Adds an answer without waiting; does nothing once the outbox has ended. */
  offer(line: string): void {
    if (this.state !== "open") return
    const segment = this.append(line)
    segment.answers++
    segment.answerUnits += line.length
    this.answers++
    this.answerUnits += line.length
  }

  private append(line: string): Segment {
    let last = this.segments[this.segments.length - 1]
    if (last === undefined || last.text.length >= segmentSize) {
      last = { text: "", messages: 0, answers: 0, answerUnits: 0 }
      this.segments.push(last)
    }
    last.text += line + "\n"
    last.messages++
    this.messages++
    this.units += line.length + 1
    this.schedule()
    return last
  }

  private schedule(): void {
    if (this.corked || this.scheduled || this.consumer === undefined) return
    // Lines that come up in the same turn of the event loop share a write.
    this.scheduled = true
    this.options.dispatcher.scheduleTask(this.onScheduled, 0)
  }

  /** Whether a line that is sent now goes in at once. */
  get hasRoom(): boolean {
    return this.state === "open" && this.waiters.length === 0 && !this.full
  }

  /** Adds a line where there is room for it. */
  put(line: string): void {
    this.append(line)
  }

  /**
   * Adds a line once there is room, in the order of the calls. False when the outbox ended before, or when the line was no
   * longer wanted at its turn.
   */
  send(line: string, wanted: () => boolean): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      if (this.state !== "open") return Effect.succeed(false)
      if (this.hasRoom) {
        this.append(line)
        return Effect.succeed(true)
      }
      return Effect.callback<boolean>((resume) => {
        const waiter: Waiter = { line, wanted, resume }
        this.waiters.push(waiter)
        this.wakeWatch()
        return Effect.sync(() => {
          const at = this.waiters.indexOf(waiter)
          if (at !== -1) this.waiters.splice(at, 1)
        })
      })
    })
  }

  /** Succeeds once the outbox is not crowded, or has ended. */
  readonly room: Effect.Effect<void> = Effect.suspend(() =>
    this.state === "closed" || !this.crowded
      ? Effect.void
      : Effect.callback<void>((resume) => {
        this.roomWaiters.push(resume)
        this.wakeWatch()
        return Effect.sync(() => {
          const at = this.roomWaiters.indexOf(resume)
          if (at !== -1) this.roomWaiters.splice(at, 1)
        })
      })
  )

  /** Holds lines back until `uncork`: one write for all of a turn's answers. */
  cork(): void {
    this.corked = true
  }

  uncork(): void {
    this.corked = false
    this.flush()
  }

  /** No more lines; what is queued is still written. */
  end(): void {
    if (this.state !== "open") return
    this.state = "ending"
    this.releaseWaiters()
    this.flush()
    this.wakeWatch()
  }

  /** No more lines, and those that are queued are dropped. */
  close(): void {
    if (this.state === "closed") return
    this.state = "closed"
    this.segments = []
    this.taken = undefined
    this.messages = this.units = this.takenUnits = 0
    this.answers = this.answerUnits = 0
    this.releaseWaiters()
    this.flush()
  }

  /** The text to write, in pieces that end at a line or between two characters; ends with the outbox. */
  readonly pull: Pull.Pull<Arr.NonEmptyReadonlyArray<string>> = Effect.suspend(() => {
    this.release()
    const text = this.take()
    if (text !== undefined) return Effect.succeed(chunkOf(text))
    if (this.state !== "open") return Cause.done()
    return Effect.callback((resume) => {
      this.consumer = resume
    })
  })

  readonly stream: Stream.Stream<string> = Stream.fromPull(Effect.succeed(this.pull))

  private readonly onScheduled = (): void => {
    this.scheduled = false
    if (!this.corked) this.flush()
  }

  private flush(): void {
    const consumer = this.consumer
    if (consumer === undefined) return
    const text = this.take()
    if (text === undefined && this.state === "open") return
    this.consumer = undefined
    consumer(text === undefined ? Cause.done() : Effect.succeed(chunkOf(text)))
  }

  private take(): string | undefined {
    const segment = this.segments[0]
    if (segment === undefined) return undefined
    let text = segment.text
    if (text.length > pieceSize) {
      // Never between the halves of a surrogate pair: each piece becomes bytes by itself.
      const last = text.charCodeAt(pieceSize - 1)
      const end = last >= 0xd800 && last <= 0xdbff ? pieceSize - 1 : pieceSize
      segment.text = text.slice(end)
      text = text.slice(0, end)
    } else {
      this.segments.shift()
      this.taken = segment
    }
    this.takenUnits = text.length
    return text
  }

  /** The consumer is done with what it took. */
  private release(): void {
    if (this.takenUnits === 0) return
    this.progress++
    this.units -= this.takenUnits
    this.takenUnits = 0
    if (this.taken !== undefined) {
      this.messages -= this.taken.messages
      this.answers -= this.taken.answers
      this.answerUnits -= this.taken.answerUnits
      this.taken = undefined
    }
    if (this.state !== "open") return
    while (this.waiters.length > 0 && !this.full) {
      const waiter = this.waiters.shift()
      if (waiter === undefined) break
      const wanted = waiter.wanted()
      if (wanted) this.append(waiter.line)
      waiter.resume(Effect.succeed(wanted))
    }
    if (!this.crowded) this.releaseRoom()
  }

  private releaseWaiters(): void {
    const waiters = this.waiters
    this.waiters = []
    for (const waiter of waiters) waiter.resume(Effect.succeed(false))
    if (this.state === "closed") this.releaseRoom()
  }

  private releaseRoom(): void {
    const waiting = this.roomWaiters
    this.roomWaiters = []
    for (const resume of waiting) resume(Effect.void)
  }

  /** Whether somebody waits for the consumer to go on. */
  private get awaited(): boolean {
    return this.waiters.length > 0 || this.roomWaiters.length > 0 || (this.state === "ending" && this.units > 0)
  }

  private wakeWatch(): void {
    const watcher = this.watcher
    this.watcher = undefined
    if (watcher !== undefined) watcher(Effect.void)
  }

  private readonly untilAwaited: Effect.Effect<void> = Effect.suspend(() =>
    this.awaited ? Effect.void : Effect.callback<void>((resume) => {
      this.watcher = resume
    })
  )

  /** To be forked beside the consumer: gives up a reader that stands still while it is waited for. */
  readonly watch: Effect.Effect<never> = Effect.forever(Effect.flatMap(this.untilAwaited, () => {
    const seen = this.progress
    return Effect.andThen(
      Effect.sleep(this.options.deadReader),
      Effect.sync(() => {
        if (this.awaited && this.progress === seen) this.options.onDeadReader()
      })
    )
  }))
}

const chunkOf = (text: string): Arr.NonEmptyReadonlyArray<string> => [text]
