/** What every contender serves: three tools that do something, and as many fillers as are asked for. */
import { parseArgs } from "node:util"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  strict: false,
  options: { fillers: { type: "string", default: "0" }, stream: { type: "boolean", default: false } }
})

export interface Start {
  readonly transport: "stdio" | "http"
  readonly port: number
  /** Tools beside the three. */
  readonly fillers: number
  /** Whether answers over HTTP may be event streams, for the contenders that have to choose. */
  readonly stream: boolean
}

export const start: Start = {
  transport: positionals[0] === "http" ? "http" : "stdio",
  port: Number(positionals[1] ?? 0),
  fillers: Number(values["fillers"]),
  stream: values["stream"] === true
}

export const info = { name: "bench", version: "1.0.0" }

export const descriptions = {
  add: "Adds two numbers",
  echo: "Gives back the text it is given",
  progress: "Reports three steps, then ends",
  filler: "Searches the archive for documents that match a query and gives back the best of them, newest first"
}

export const fillerNames: ReadonlyArray<string> = Array.from(
  { length: start.fillers },
  (_, index) => `search_archive_${String(index).padStart(3, "0")}`
)

/** Steps of the tool `progress`. */
export const steps = [1, 2, 3] as const

/** Tells the process that started this one where it listens. */
export const listening = (port: number): void => {
  process.send?.({ port })
}
