/** Messages that have come, to be taken in order or picked out; any number of fibers may wait at the same time. */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Effect from "effect/Effect"
import { Unexpected } from "../TestError.ts"

/** More than this is not kept. */
const capacity = 100_000
/** After this many others, what is expected will not come. */
const patience = 1000

type Wanted = (message: JsonRpc.Message) => boolean

const any: Wanted = () => true

export class Inbox {
  private readonly kept: Array<JsonRpc.Message> = []
  private readonly waiting = new Set<() => void>()

  readonly offer = (message: JsonRpc.Message): void => {
    if (this.kept.length >= capacity) return
    this.kept.push(message)
    for (const look of Array.from(this.waiting)) look()
  }

  readonly take: Effect.Effect<JsonRpc.Message> = Effect.suspend(() =>
    this.pick(any, Number.POSITIVE_INFINITY, "anything")
  ).pipe(
    Effect.orDie
  )

  readonly expect = (what: string, wanted: Wanted): Effect.Effect<JsonRpc.Message, Unexpected> =>
    Effect.suspend(() => this.pick(wanted, patience, what))

  readonly pending = (): ReadonlyArray<JsonRpc.Message> => [...this.kept]

  private pick(wanted: Wanted, limit: number, what: string): Effect.Effect<JsonRpc.Message, Unexpected> {
    return Effect.callback((resume) => {
      const look = (): boolean => {
        const at = this.kept.findIndex(wanted)
        const [there] = at < 0 ? [] : this.kept.splice(at, 1)
        if (there === undefined && this.kept.length < limit) return false
        this.waiting.delete(look)
        resume(
          there === undefined
            ? Effect.fail(new Unexpected({ wanted: what, got: this.kept.slice(0, 10) }))
            : Effect.succeed(there)
        )
        return true
      }
      if (look()) return undefined
      this.waiting.add(look)
      return Effect.sync(() => this.waiting.delete(look))
    })
  }
}
