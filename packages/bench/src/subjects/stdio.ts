/** A server behind its standard streams. */
import { check } from "../answers.ts"
import { type Child, failed, startServer } from "../child.ts"
import type { Served } from "../contenders.ts"
import * as Stdio from "../load/stdio.ts"
import * as Messages from "../messages.ts"
import { fewest, ofChild, type Subject } from "../subject.ts"

export interface StdioOptions {
  readonly template: Messages.Template
  /** Requests in flight. */
  readonly window: number
  readonly fillers?: number
  readonly depth?: number
  readonly extras?: boolean
  /** Bytes that an answer has at least. */
  readonly bytes?: number
  readonly least?: number
}

/** Starts a server and greets it, where its revision has greetings. */
export const greeted = async (
  served: Served,
  { depth = 0, extras = false, fillers = 0, template }: Omit<StdioOptions, "window">
): Promise<Child> => {
  const child = startServer(served, { transport: "stdio", depth, extras, fillers })
  try {
    if (template.version === "2025-11-25") {
      await Stdio.exchange(child, Messages.initializeAs(template.abilities))
      child.stdin.write(`${Messages.initialized}\n`)
    }
    return child
  } catch (error) {
    await child.stop()
    throw failed(child, error)
  }
}

export const stdioSubject = async (served: Served, options: StdioOptions): Promise<Subject> => {
  const { bytes = 1, least = fewest, template, window } = options
  const child = await greeted(served, options)
  let next = 1
  return {
    ...ofChild(child),
    least,
    verify: async (count) => {
      for (let i = 0; i < count; i++) {
        const id = next++
        check(template, id, [await Stdio.exchange(child, template.body(id))])
      }
    },
    run: async (count) => {
      const first = next
      next += count
      const latencies = await Stdio.run(child, { body: template.body, first, count, window, least: bytes })
      return { units: count, latencies }
    }
  }
}
