/** What the servers have in common. */
import type { IncomingMessage } from "node:http"

/** What is answered to everything. */
export const answer = process.argv[3] ?? "{}"

/** Tells the process that started this one where it listens. */
export const listening = (port: number): void => void process.send?.({ port })

const newline = 10

/** Lines that end in a chunk. */
export const linesIn = (chunk: Uint8Array): number => {
  let lines = 0
  for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) lines++
  return lines
}

/** Reads a body as text, the shortest way that Node has. */
export const readNode = (request: IncomingMessage, done: (text: string) => void): void => {
  let body = ""
  request.setEncoding("utf8")
  request.on("data", (chunk: string) => {
    body += chunk
  })
  request.on("end", () => done(body))
}

/** Starts the one that the command line names. */
export const start = (servers: ReadonlyMap<string, () => void>): void => {
  const server = servers.get(process.argv[2] ?? "")
  if (server === undefined) throw new Error(`no server ${process.argv[2]}`)
  server()
}
