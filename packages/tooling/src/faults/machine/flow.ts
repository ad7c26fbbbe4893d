/** What one side writes on a stream, and what the other has heard of it, in words that both the model and the world use. */
import { at } from "../wire.ts"

/** What a client has heard over one connection, expected or found. */
export interface Heard {
  readonly messages: Array<string>
  ended: boolean
  status: number
}

/** The client's end of a stream. */
export class Pipe implements Heard {
  readonly name: string
  readonly messages: Array<string> = []
  ended = false
  status = 200
  /** What it is the other end of. */
  flow: Flow | undefined = undefined
  /** How much of that came over other connections before. */
  from = 0

  constructor(name: string) {
    this.name = name
  }
}

/** The server's end. */
export class Flow {
  readonly messages: Array<string> = []
  ended = false
  /** Whether it is a stream, and no answer that is waited for. */
  streamed: boolean
  /** Whether what nobody reads is kept for somebody to come back. */
  kept = false
  /** Whether it ends with an answer. */
  answers = true
  /** What is not kept any more. */
  lost = 0
  /** How much there was when the store last forgot all of it. */
  forgotten: number | undefined = undefined
  reader: Pipe | undefined
  readonly since: number

  constructor(reader: Pipe, since: number, streamed: boolean) {
    this.reader = reader
    this.since = since
    this.streamed = streamed
    reader.flow = this
  }

  /** Goes on over another connection, from a place. */
  connect(reader: Pipe, from: number): void {
    if (this.reader !== undefined) this.reader.ended = true
    this.reader = reader
    reader.flow = this
    reader.from = from
    reader.messages.push(...this.messages.slice(from))
    reader.ended = this.ended
  }

  say(message: string): void {
    if (this.ended || (this.reader === undefined && !this.kept)) return
    this.messages.push(message)
    this.reader?.messages.push(message)
  }

  end(): void {
    if (this.ended) return
    this.ended = true
    if (this.reader !== undefined) this.reader.ended = true
  }
}

/** What of a result is looked at. */
const resultText = (result: unknown): string => {
  const text = at(result, "content", 0, "text")
  if (typeof text === "string") return text
  const type = at(result, "resultType")
  if (type === "input_required") return type
  if (type === "task" || at(result, "task", "createdAt") !== undefined && at(result, "_meta") === undefined) {
    return "task"
  }
  const status = at(result, "status") ?? at(result, "task", "status")
  if (typeof status === "string") return status
  return at(result, "serverInfo") === undefined ? "ok" : "hello"
}

/** A message in a word or two; `undefined` for what comes when it likes. `asked` names the questions by their ids. */
export const wordsOf = (message: unknown, asked: (id: unknown) => string | undefined): string | undefined => {
  const id = at(message, "id")
  const method = at(message, "method")
  if (typeof method === "string") {
    if (id !== undefined) return `ask ${String(at(message, "params", "message"))}`
    switch (method) {
      case "notifications/tasks/status":
        return undefined
      case "notifications/progress":
        return `progress ${String(at(message, "params", "progress"))} of ${
          String(at(message, "params", "progressToken"))
        }`
      case "notifications/cancelled":
        return `cancelled ${asked(at(message, "params", "requestId")) ?? "nothing that was asked"}`
      default:
        return method.replace("notifications/", "")
    }
  }
  const code = at(message, "error", "code")
  return code === undefined
    ? `${String(id)}: ${resultText(at(message, "result"))}`
    : `${id === undefined || id === null ? "-" : String(id)}! ${String(code)}`
}
