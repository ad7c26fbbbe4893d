/** Servers that do nothing, on Node alone. */
import { createServer } from "node:http"
import { answer, linesIn, listening, readNode, start } from "./serving.ts"

start(
  new Map([
    ["http-node", () => {
      const server = createServer((request, response) =>
        readNode(request, () => {
          response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(answer) })
          response.end(answer)
        })
      )
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        if (typeof address === "object" && address !== null) listening(address.port)
      })
    }],
    ["stdio-node", () => {
      const line = `${answer}\n`
      process.stdin.on("data", (chunk: Uint8Array) => {
        const lines = linesIn(chunk)
        if (lines > 0) process.stdout.write(line.repeat(lines))
      })
    }]
  ])
)
