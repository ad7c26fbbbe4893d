/** What every contender serves: tools that do something, one resource, and as many fillers as are asked for. */
import { parseArgs } from "node:util"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  strict: false,
  options: {
    fillers: { type: "string", default: "0" },
    depth: { type: "string", default: "0" },
    stream: { type: "boolean", default: false },
    extras: { type: "boolean", default: false }
  }
})

export interface Start {
  readonly transport: "stdio" | "http"
  readonly port: number
  /** Tools beside the others. */
  readonly fillers: number
  /** Layers of middleware that do nothing, around every tool, for the contenders that have such. */
  readonly depth: number
  /** Whether answers over HTTP may be event streams, for the contenders that have to choose. */
  readonly stream: boolean
  /** Whether there are the tools that ask, sleep and announce, and the resource. */
  readonly extras: boolean
}

export const start: Start = {
  transport: positionals[0] === "http" ? "http" : "stdio",
  port: Number(positionals[1] ?? 0),
  fillers: Number(values["fillers"]),
  depth: Number(values["depth"]),
  stream: values["stream"] === true,
  extras: values["extras"] === true
}

export const info = { name: "bench", version: "1.0.0" } as const

export const descriptions = {
  add: "Adds two numbers",
  echo: "Gives back the text it is given",
  progress: "Reports three steps, then ends",
  ask: "Asks for a name, and greets",
  sleep: "Ends after as many milliseconds as it is told",
  touch: "Announces that the resource has changed",
  filler: "Searches the archive for documents that match a query and gives back the best of them, newest first"
} as const

export const fillerNames: ReadonlyArray<string> = Array.from(
  { length: start.fillers },
  (_, index) => `search_archive_${String(index).padStart(3, "0")}`
)

/** Layers of middleware, by number. */
export const layers: ReadonlyArray<number> = Array.from({ length: start.depth }, (_, index) => index)

/** Steps of the tool `progress`. */
export const steps = [1, 2, 3] as const

/** Streams of 2026-07-28 that one caller may open, for the contenders that have a bound; their own is lower. */
export const mostListeners = 10_000

/** Tells the process that started this one where it listens. */
export const listening = (port: number): void => {
  process.send?.({ port })
}
