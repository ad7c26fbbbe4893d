/** A task that runs in this process, and the questions its handler waits for. */
import type { JsonObject } from "@mcpfx/schema/JsonRpc"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import { isTerminal, type TaskRecord } from "@mcpfx/session/TaskState"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Semaphore from "effect/Semaphore"
import type { InputError } from "../ServerError.ts"
import type { Question } from "./interaction.ts"

/** A question that nobody has answered yet. */
export class Asked {
  readonly key: string
  readonly question: Question
  readonly answer = Deferred.makeUnsafe<JsonObject, InputError>()
  /** The request of the client on whose stream it is asked right now. */
  carrier: object | undefined = undefined

  constructor(key: string, question: Question) {
    this.key = key
    this.question = question
  }
}

const kinds: Readonly<Record<Question["request"]["method"], string>> = {
  "elicitation/create": "elicit",
  "sampling/createMessage": "sample",
  "roots/list": "roots"
}

export class Live {
  record: TaskRecord
  /** The version that the store has. */
  saved: number
  readonly questions = new Map<string, Asked>()
  /** One write at a time. */
  readonly lock = Semaphore.makeUnsafe(1)
  fiber: Fiber.Fiber<unknown, unknown> | undefined = undefined
  timer: Fiber.Fiber<unknown, unknown> | undefined = undefined
  /** Whether a change is on its way to the store. */
  saving = false
  /** Its time is over, or it was removed: nobody is told about it any more. */
  gone = false
  /** Counts what those who watch would like to know. */
  ticks = 0
  /** Hears of each change of the record. */
  notice: ((record: TaskRecord, before: TaskRecord) => void) | undefined = undefined
  private readonly watchers = new Set<() => void>()
  private readonly keys = new Set<string>()

  constructor(record: TaskRecord) {
    this.record = record
    this.saved = record.version
  }

  get over(): boolean {
    return this.gone || isTerminal(this.record)
  }

  publish(record: TaskRecord): void {
    const before = this.record
    this.record = record
    this.notice?.(record, before)
    this.tick()
  }

  tick(): void {
    this.ticks++
    for (const watcher of Array.from(this.watchers)) watcher()
  }

  /** Succeeds as soon as there was a tick after the one numbered `seen`. */
  after(seen: number): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      if (this.ticks !== seen) return resume(Effect.void)
      const watcher = () => {
        this.watchers.delete(watcher)
        resume(Effect.void)
      }
      this.watchers.add(watcher)
      return Effect.sync(() => void this.watchers.delete(watcher))
    })
  }

  /** Calls `hear` at each tick until it is taken back. */
  watch(hear: () => void): () => void {
    this.watchers.add(hear)
    return () => void this.watchers.delete(hear)
  }

  /** A key that was never used in this task (TKX-08): the question's own, or one made from its kind. */
  freshKey(question: Question): string {
    const { key, request } = question
    if (key !== undefined && !this.keys.has(key)) {
      this.keys.add(key)
      return key
    }
    const stem = key ?? kinds[request.method]
    for (let n = key === undefined ? 1 : 2;; n++) {
      const fresh = `${stem}-${n}`
      if (this.keys.has(fresh)) continue
      this.keys.add(fresh)
      return fresh
    }
  }

  /** Requests of the client that wait for the result, the newest last. */
  readonly streams: Array<RequestContext["Service"]> = []

  /** A question that no stream carries. */
  uncarried(): Asked | undefined {
    for (const asked of this.questions.values()) if (asked.carrier === undefined) return asked
    return undefined
  }
}
