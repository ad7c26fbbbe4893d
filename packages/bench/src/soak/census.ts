/** What is alive in a process, counted when nothing is meant to be going on. */
import * as Health from "@mcpfx/server/Health"
import * as Effect from "effect/Effect"
import { queryObjects } from "node:v8"

export interface Census {
  /** Bytes of the heap that are alive. */
  readonly heap: number
  readonly fibers: number
  readonly sockets: number
  readonly timers: number
  /** Rows of the endpoint's tables: requests in flight, sessions and streams; 0 where there is no endpoint. */
  readonly rows: number
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50))

const fiberClass = Effect.runFork(Effect.void).constructor

const isFunction = (u: unknown): u is new() => object => typeof u === "function"

const fibers = (): number => {
  if (!isFunction(fiberClass)) throw new Error("fibers have no class")
  return queryObjects(fiberClass, { format: "count" })
}

const rows = (): number =>
  Effect.runSync(Health.health).endpoints.reduce(
    (sum, { inFlight, listening, sessions }) => sum + inFlight + listening + sessions,
    0
  )

export const census = async (): Promise<Census> => {
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.()
    await settle()
  }
  const active = process.getActiveResourcesInfo()
  const count = (part: string) => active.filter((name) => name.includes(part)).length
  return {
    heap: process.memoryUsage().heapUsed,
    fibers: fibers(),
    sockets: count("TCP") + count("Pipe"),
    // The one that waits here has ended.
    timers: count("Timeout"),
    rows: rows()
  }
}
