/** A server behind HTTP that asks its client before it answers. */
import { check, questionIn, roundIn } from "../answers.ts"
import type { Contender } from "../contenders.ts"
import * as Http from "../load/http.ts"
import * as Request from "../load/request.ts"
import { eventsIn, messagesOf, textOf } from "../load/response.ts"
import * as Messages from "../messages.ts"
import { fewest, ofChild, type Subject } from "../subject.ts"
import { type Reached, reached } from "./http.ts"

/** Clients that call at the same time. */
const clients = 16

interface Client {
  readonly calls: Http.Connection
  readonly head: string
  /** Answers the questions in what a stream says, each once. */
  readonly hear: (text: string) => void
  readonly close: () => void
}

/** Answers go over a connection of their own, one after the other, while that of the call is busy. */
const answering = (port: number, head: string) => {
  const connection = new Http.Connection(port)
  const seen = new Set<string | number>()
  let last: Promise<unknown> = Promise.resolve()
  // A call whose answer is lost does not end, which is noticed there.
  const lost = () => {}
  const hear = (text: string): void => {
    if (!text.includes("elicitation/create")) return
    for (const question of eventsIn(text).map(questionIn)) {
      if (question === undefined || seen.has(question)) continue
      seen.add(question)
      last = last.then(() => connection.request(Request.post(head, Messages.answer(question)))).catch(lost)
    }
  }
  return { hear, close: () => connection.close() }
}

/** The stream of a session, on which some ask; others have none. */
const openStream = async (port: number, session: string, hear: (text: string) => void): Promise<Http.Connection> => {
  let rest = ""
  const stream = new Http.Connection(port)
  await stream.follow(Request.get(port, session), (chunk) => {
    const text = rest + chunk.toString("utf8")
    const end = text.lastIndexOf("\n\n") + 2
    rest = text.slice(end)
    hear(text.slice(0, end))
  })
  return stream
}

const clientOf = async (
  { connections, heads, port, sessions }: Reached,
  calls: Http.Connection
): Promise<Client> => {
  const index = connections.indexOf(calls)
  const head = heads[index] ?? ""
  const session = sessions[index]
  const answers = answering(port, head)
  const stream = session === undefined ? undefined : await openStream(port, session, answers.hear)
  return {
    calls,
    head,
    hear: answers.hear,
    close: () => {
      stream?.close()
      answers.close()
    }
  }
}

/** The call that is asked about by a request, 2025-11-25. */
const pushed = async ({ calls, head, hear }: Client, template: Messages.Template, id: number) => {
  const response = await calls.request(Request.post(head, template.body(id)), {
    // What is not whole yet is heard with the next part.
    onPart: (text) => hear(text.slice(0, text.lastIndexOf("\n\n") + 2))
  })
  return messagesOf(response).filter((message) => questionIn(message) === undefined)
}

/** The call that is sent again with what was asked for, 2026-07-28. */
const inRounds = async ({ calls, head }: Client, template: Messages.Template, id: number) => {
  const first = await calls.request(Request.post(head, template.body(id)))
  const round = messagesOf(first).map(roundIn).find((found) => found !== undefined)
  if (round === undefined) throw new Error(`it did not ask: ${textOf(first).slice(0, 600)}`)
  return messagesOf(await calls.request(Request.post(head, Messages.again(template, id, round))))
}

export const httpAsks = async (contender: Contender, template: Messages.Template): Promise<Subject> => {
  const server = await reached(contender, { extras: true, stream: true }, { connections: clients, template })
  const all = await Promise.all(server.connections.map((calls) => clientOf(server, calls)))
  const exchange = template.version === "2025-11-25" ? pushed : inRounds
  let next = 1
  const load = async (count: number) => {
    const first = next
    next += count
    const latencies: Array<number> = []
    await Http.share(all, count, async (client, number) => {
      const started = performance.now()
      const messages = await exchange(client, template, first + number)
      latencies.push(performance.now() - started)
      check(template, first + number, messages)
    })
    return latencies
  }
  return {
    ...ofChild(server.child),
    least: fewest,
    verify: async (count) => void await load(count),
    run: async (count) => ({ units: count, latencies: await load(count) }),
    stop: async () => {
      for (const { close } of all) close()
      await server.stop()
    }
  }
}
