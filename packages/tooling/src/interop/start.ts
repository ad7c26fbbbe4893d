/** How a server program is started and how it ends: `--transport stdio|http`, `--listener`, `--revision R`, `--exit-file F`. */
import { appendFileSync } from "node:fs"
import { parseArgs } from "node:util"

const { values } = parseArgs({
  options: {
    transport: { type: "string", default: "stdio" },
    listener: { type: "boolean", default: false },
    revision: { type: "string" },
    "exit-file": { type: "string" }
  }
})

export const transport = values.transport === "http" ? "http" : "stdio"

/** Whether it is served by the listener of the package node, where the program has the choice. */
export const behindListener = values.listener

/** The only revision to serve; all when there is none. */
export const revision = values.revision

const exitFile = values["exit-file"]
if (exitFile !== undefined) process.on("exit", (code) => appendFileSync(exitFile, `${process.pid} ${code}\n`))

/** Tells the parent where the server listens. A program over HTTP ends when its standard input does. */
export const listening = (port: number): void => {
  process.stdout.write(`listening ${port}\n`)
}

/** Resolves when standard input has ended; for programs that do not read it otherwise. */
export const inputEnded = (): Promise<void> =>
  new Promise((resolve) => {
    process.stdin.on("end", resolve).on("close", resolve).resume()
  })
