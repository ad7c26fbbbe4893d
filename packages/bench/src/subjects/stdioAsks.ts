/** A server behind its standard streams that asks its client before it answers. */
import { check, member, questionIn, roundIn } from "../answers.ts"
import type { Child } from "../child.ts"
import type { Contender } from "../contenders.ts"
import { converse } from "../load/stdio.ts"
import * as Messages from "../messages.ts"
import { fewest, ofChild, type Subject } from "../subject.ts"
import { greeted } from "./stdio.ts"

/** Calls in flight. */
const window = 16

/** Makes that many calls and answers what is asked, in the way of the revision; each goes to `done` with its answer. */
const talk = (
  child: Child,
  template: Messages.Template,
  range: { readonly first: number; readonly count: number },
  done: (id: number, message: unknown) => void
): Promise<void> => {
  let sent = 0
  let answered = 0
  const call = (): string => (sent < range.count ? `${template.body(range.first + sent++)}\n` : "")
  const hear = (message: unknown): boolean => {
    const question = questionIn(message)
    const round = roundIn(message)
    const id = Number(member(message, "id"))
    if (question !== undefined) {
      child.stdin.write(`${Messages.answer(question)}\n`)
    } else if (round !== undefined) {
      // Another request, and so another id; that of the call is told by what it leaves over.
      child.stdin.write(`${Messages.again(template, id + range.count, round)}\n`)
    } else if (member(message, "method") === undefined) {
      done(id, message)
      answered++
      const next = call()
      if (next !== "") child.stdin.write(next)
    }
    return answered === range.count
  }
  return converse(child, Array.from({ length: Math.min(window, range.count) }, call).join(""), hear)
}

export const stdioAsks = async (contender: Contender, template: Messages.Template): Promise<Subject> => {
  const child = await greeted(contender, { template, extras: true })
  let next = 1
  const take = (count: number) => {
    const first = next
    // Each call may need a second id.
    next += 2 * count
    return { first, count }
  }
  return {
    ...ofChild(child),
    least: fewest,
    verify: (count) => talk(child, template, take(count), (id, message) => check(template, id, [message])),
    run: async (count) => {
      await talk(child, template, take(count), () => {})
      return { units: count, latencies: [] }
    }
  }
}
