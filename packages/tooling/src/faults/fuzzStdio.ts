/** Spoilt traffic for a server process, with good requests in between whose answers have to be right. */
import { Child } from "./child.ts"
import { readRequest } from "./mutate.ts"
import { program } from "./programs.ts"
import { at, call, initialize, initialized, modernRequest, parse, request } from "./wire.ts"

/** What is left in a server after everything was taken back. */
export interface Left {
  readonly inFlight: unknown
  readonly resources: unknown
}

const newline = new Uint8Array([10])

/** A server process that is fuzzed; it has said hello on 2025-11-25. */
export class FuzzedProcess {
  readonly child: Child
  private good = 0
  private readonly open = new Map<string, unknown>()

  private constructor(child: Child) {
    this.child = child
  }

  static async start(): Promise<FuzzedProcess> {
    const child = new Child(await program("stdioServer"), ["500"])
    const self = new FuzzedProcess(child)
    child.send(initialize("2025-11-25", "hello"))
    await self.answer("hello")
    child.send(initialized)
    return self
  }

  private async answer(id: string): Promise<unknown> {
    const message = await this.child.lines.find((line) => {
      if (!line.includes(id)) return undefined
      const message = parse(line)
      return at(message, "id") === id ? message : undefined
    })
    // What was looked through is of no more use.
    this.child.lines.all.length = 0
    return message
  }

  /** Sends what is spoilt, then what is good on both eras; gives what is wrong, if anything. */
  async round(spoilt: ReadonlyArray<Uint8Array>): Promise<string | undefined> {
    const { child } = this
    for (const line of spoilt) {
      const asked = readRequest(line)
      const id = asked?.id
      const lasts = asked?.method === "subscriptions/listen" || asked?.method === "tools/call"
      if (lasts && (typeof id === "string" || typeof id === "number")) this.open.set(JSON.stringify(id), id)
      child.write(line)
      child.write(newline)
    }
    const number = ++this.good
    const [old, young] = [`good-old-${number}`, `good-young-${number}`]
    child.send(request(old, "tools/call", call("echo", { text: old })))
    child.send(modernRequest(young, "tools/call", call("echo", { text: young })))
    const ended = child.ended.then(({ code, signal }) =>
      `the process ended: ${code} ${signal} ${child.stderr.slice(-2000)}`
    )
    const answers = Promise.all([this.answerIs(old), this.answerIs(young)]).then((all) =>
      all.find((wrong) => wrong !== undefined)
    )
    return Promise.race([ended, answers.catch((error: unknown) => String(error))])
  }

  private async answerIs(id: string): Promise<string | undefined> {
    const found = await this.child.lines.find((line) => {
      const message = parse(line)
      if (message === undefined || at(message, "jsonrpc") !== "2.0" && !Array.isArray(message)) {
        return { wrong: `no message: ${line}` }
      }
      if (at(message, "error", "code") === -32603) return { wrong: `an internal error: ${line}` }
      return at(message, "id") === id ? { message } : undefined
    })
    if ("wrong" in found) return found.wrong
    const text = at(found.message, "result", "structuredContent", "text")
    return text === id ? undefined : `the wrong answer: ${JSON.stringify(found.message)}`
  }

  /** Forgets what came in. */
  clear(): void {
    this.child.lines.all.length = 0
  }

  /** Takes back what may still run, and counts what is left. */
  async left(): Promise<Left> {
    // Twice, since the eras have a table each.
    for (const requestId of [...this.open.values(), ...this.open.values()]) {
      this.child.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } })
    }
    this.open.clear()
    this.clear()
    await new Promise((resolve) => setTimeout(resolve, 20))
    const id = `count-${++this.good}`
    this.child.send(modernRequest(id, "tools/call", call("counts")))
    const counts = at(await this.answer(id), "result", "structuredContent")
    return { inFlight: at(counts, "inFlight"), resources: at(counts, "resources") }
  }

  async stop(): Promise<{ readonly code: number | null }> {
    this.child.end()
    const killing = setTimeout(() => this.child.kill("SIGKILL"), 5000)
    const end = await this.child.ended
    clearTimeout(killing)
    return end
  }
}

/** Leaves out what is not needed for a case to fail; tries no more than `most` times. */
export const shrink = async <A>(
  items: ReadonlyArray<A>,
  fails: (items: ReadonlyArray<A>) => Promise<boolean>,
  most = 40
): Promise<ReadonlyArray<A>> => {
  let kept = items
  let tries = most
  let size = Math.ceil(items.length / 2)
  while (size > 0 && tries > 0) {
    let smaller = false
    for (let start = 0; start < kept.length && tries > 0; start += size) {
      const rest = kept.filter((_, index) => index < start || index >= start + size)
      tries--
      if (!(await fails(rest))) continue
      kept = rest
      smaller = true
      break
    }
    if (!smaller) size = size === 1 ? 0 : Math.ceil(size / 2)
  }
  return kept
}
