/** The least that could call: stringify, write, parse, look up. */
import { spawn } from "node:child_process"
import { Agent, request } from "node:http"
import { initialize } from "../messages.ts"
import { byPromises, checkSum, drive, start } from "./drive.ts"

interface Answer {
  readonly id: number
  readonly result: { readonly content: ReadonlyArray<{ readonly text: string }> }
}

type Send = (message: object) => Promise<Answer>

const overStdio = (): Send => {
  const { stdin, stdout } = spawn(process.execPath, [start.target, "stdio"], { stdio: ["pipe", "pipe", "inherit"] })
  const waiting = new Map<number, (answer: Answer) => void>()
  let rest = ""
  stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) {
      const answer: Answer = JSON.parse(line)
      waiting.get(answer.id)?.(answer)
      waiting.delete(answer.id)
    }
  })
  let next = 1
  let lines = ""
  const flush = (): void => {
    stdin.write(lines)
    lines = ""
  }
  return (message) =>
    new Promise((resolve) => {
      const id = "method" in message && message.method === "initialize" ? 0 : next++
      waiting.set(id, resolve)
      // What is called on hearing the answers of one chunk is one write, as it is in mcpfx.
      if (lines === "") process.nextTick(flush)
      lines += `${JSON.stringify({ ...message, id })}\n`
    })
}

const overHttp = (): Send => {
  const agent = new Agent({ keepAlive: true, maxSockets: start.window })
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25"
  }
  let next = 1
  return (message) =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify({ ...message, id: next++ })
      const options = { method: "POST", agent, headers: { ...headers, "content-length": Buffer.byteLength(body) } }
      request(start.target, options, (response) => {
        const session = response.headers["mcp-session-id"]
        if (session !== undefined) headers["mcp-session-id"] = String(session)
        let text = ""
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk
        }).on("end", () => resolve(JSON.parse(text))).on("error", reject)
      }).on("error", reject).end(body)
    })
}

const send = start.transport === "http" ? overHttp() : overStdio()

await send(JSON.parse(initialize))

drive(byPromises(async (a) => {
  const message = { jsonrpc: "2.0", method: "tools/call", params: { name: "add", arguments: { a, b: 1 } } }
  checkSum(a, (await send(message)).result.content[0]?.text)
}))
