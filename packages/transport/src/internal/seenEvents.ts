import * as Hash from "effect/Hash"
import type * as Sse from "../Sse.ts"

/** How many of the last events of a stream are known again. */
const remembered = 1024

/** The events of a stream that came already, over whichever connection. */
export class SeenEvents {
  private readonly keys = new Set<string>()

  /**
   * Whether an event is there for the first time. Some servers number each connection anew, so an event is known again by its
   * id and what it says.
   */
  isNew(event: Sse.Event): boolean {
    if (event.id === undefined || event.data === "") return true
    const key = `${event.id} ${event.data.length} ${Hash.string(event.data)}`
    if (this.keys.has(key)) return false
    this.keys.add(key)
    if (this.keys.size > remembered) {
      for (const oldest of this.keys) {
        this.keys.delete(oldest)
        break
      }
    }
    return true
  }
}
