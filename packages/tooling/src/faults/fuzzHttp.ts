/** Spoilt requests for a server on the loopback interface, with good ones in between whose answers have to be right. */
import { Agent } from "node:http"
import { mutate, spoilHeaders } from "./mutate.ts"
import type { Random } from "./random.ts"
import type { Recorded } from "./record.ts"
import { at, call, messages, modernHeaders, modernRequest, open, openSession, request, send } from "./wire.ts"

/** One request that is sent. */
export interface Spoilt {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

const utf8 = new TextEncoder()
/** What Node or `fetch` sets by itself. */
const automatic = new Set(["content-length", "host", "connection", "transfer-encoding"])

/** How long a stream is read. */
const patience = 100

/** Whether Node would send it at all. */
const sendable = ({ headers }: Spoilt): boolean =>
  Object.values(headers).every((value) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value))

/** A recorded conversation gone wrong; its requests name `session` where they named theirs. */
export const spoil = (recorded: ReadonlyArray<Recorded>, session: string, random: Random): ReadonlyArray<Spoilt> =>
  recorded.flatMap(({ body, headers, method }): ReadonlyArray<Spoilt> => {
    const own: Record<string, string> = {}
    for (const [name, value] of Object.entries(headers)) {
      if (!automatic.has(name)) own[name] = name === "mcp-session-id" ? session : value
    }
    const one: Spoilt = {
      method: random.chance(0.05) ? random.pick(["GET", "DELETE", "PUT", "POST"]) ?? method : method,
      headers: random.chance(0.4) ? spoilHeaders(own, random) : own,
      body: random.chance(0.5) && body !== "" ? mutate(body, random) : utf8.encode(body)
    }
    return sendable(one) ? random.chance(0.1) ? [one, one] : [one] : []
  })

/** A server that is fuzzed. */
export class FuzzedHttp {
  readonly agent = new Agent({ keepAlive: true, maxSockets: 10 })
  /** Spoilt requests can spoil their socket: what is good has its own. */
  private readonly goodAgent = new Agent({ keepAlive: true, maxSockets: 2 })
  private readonly port: number
  private readonly sessions = new Set<string>()
  private session: Record<string, string> = {}
  private good = 0

  constructor(port: number) {
    this.port = port
  }

  async start(): Promise<void> {
    this.session = await openSession(this.port, "2025-06-18", this.agent)
    this.keep(this.session["mcp-session-id"])
  }

  private keep(id: string | undefined): void {
    if (id !== undefined) this.sessions.add(id)
  }

  /** A session to spoil. */
  async victim(version: string): Promise<string> {
    if (version === "2026-07-28") return ""
    const headers = await openSession(this.port, version, this.agent)
    const id = headers["mcp-session-id"] ?? ""
    this.keep(id)
    return id
  }

  /** Sends it, reads for a moment, and gives what is wrong with the answer. */
  private async hit({ body, headers, method }: Spoilt): Promise<string | undefined> {
    const { request, response } = open(this.port, { method, headers, body, agent: this.agent })
    const timer = setTimeout(() => request.destroy(), patience)
    let status = 0
    let text = ""
    try {
      const head = await response
      status = head.statusCode ?? 0
      const id = head.headers["mcp-session-id"]
      if (typeof id === "string") this.keep(id)
      for await (const chunk of head.setEncoding("utf8")) text += chunk
    } catch {
      // Cut by us, by the server that read enough, or refused by Node: what counts is what comes after.
    } finally {
      clearTimeout(timer)
    }
    if (status === 500) return `status 500: ${text}`
    if (messages(text).some((message) => at(message, "error", "code") === -32603)) return `an internal error: ${text}`
    return undefined
  }

  /** Sends what is spoilt, eight at a time, then what is good. */
  async round(spoilt: ReadonlyArray<Spoilt>): Promise<string | undefined> {
    for (let start = 0; start < spoilt.length; start += 8) {
      const found = await Promise.all(spoilt.slice(start, start + 8).map((each) => this.hit(each)))
      const wrong = found.find((each) => each !== undefined)
      if (wrong !== undefined) return wrong
    }
    return (await this.goodCall(true)) ?? this.goodCall(false)
  }

  private async goodCall(modern: boolean): Promise<string | undefined> {
    const id = `good-${++this.good}`
    const params = call("echo", { text: id })
    try {
      const { status, text } = await send(this.port, {
        body: JSON.stringify(modern ? modernRequest(id, "tools/call", params) : request(id, "tools/call", params)),
        headers: modern ? modernHeaders("tools/call", "echo") : this.session,
        agent: this.goodAgent,
        millis: 5000
      })
      const [answer] = messages(text)
      return at(answer, "id") === id && at(answer, "result", "structuredContent", "text") === id
        ? undefined
        : `the wrong answer to a good call: ${status} ${text}`
    } catch (error) {
      return `no answer to a good call: ${String(error)}`
    }
  }

  /** Ends every session, and lets go of the sockets. */
  async stop(): Promise<void> {
    for (const id of this.sessions) {
      await send(this.port, { method: "DELETE", headers: { "mcp-session-id": id }, agent: this.agent }).catch(() => {})
    }
    this.sessions.clear()
    this.agent.destroy()
    this.goodAgent.destroy()
  }
}
