/** Opening sessions, calling in them, answering what they ask. */
import { pick } from "../../moves.ts"
import type { Pipe } from "../flow.ts"
import * as Requests from "../requests.ts"
import type { Names } from "../send.ts"
import * as LetIn from "./letIn.ts"
import {
  answer,
  begin,
  inSession,
  type Made,
  type Make,
  message,
  quiet,
  refusal,
  refuse,
  refused,
  sessionFor,
  sessionOf
} from "./letIn.ts"

const versions = ["2025-03-26", "2025-06-18", "2025-11-25", "2025-11-25"] as const

export const open: Make = (model, { how, which }) => {
  if (!model.http) {
    if (model.connections.filter(({ ended }) => !ended).length >= 2) return undefined
    const pipe = model.pipe("connection")
    model.connections.push(model.flow(pipe, true))
    return { text: `connect ${pipe.name}`, sends: [{ _tag: "Connect", pipe: pipe.name }] }
  }
  if (model.sessions.filter(({ over }) => !over).length >= 3) return undefined
  const version = pick(versions, which) ?? "2025-11-25"
  const principal = how < 0.7 ? "a" : "b"
  const id = model.id()
  const pipe = model.pipe("open")
  pipe.ended = true
  if (model.draining) refused(pipe, id, [503, -32_000])
  else {
    pipe.messages.push(`${id}: hello`)
    model.sessions.push(sessionOf(pipe.name, principal, version, undefined))
  }
  return {
    text: `open ${pipe.name} by ${principal} on ${version}`,
    sends: [message(pipe, { principal }, () => Requests.initialize(id, version))]
  }
}

export const initialize: Make = (model, move) => {
  const session = sessionFor(model, move.which)
  if (session === undefined) return undefined
  const principal = LetIn.callerOf(session, move)
  const id = model.id()
  const no = refusal(model, session, principal)
  const made = (pipe: Pipe): Made => ({
    text: `initialize in ${session.ref}`,
    sends: [message(pipe, LetIn.byOf(session, principal), () => Requests.initialize(id, session.version))]
  })
  if (no !== undefined || session.agreed) return made(refuse(model, session, id, no ?? [400, -32_600]))
  const begun = begin(model, { session }, id)
  answer(model, begun, ": hello")
  session.agreed = true
  return made(begun.pipe)
}

export const ready: Make = (model, move) => {
  const session = sessionFor(model, move.which)
  if (session === undefined) return undefined
  return quiet(model, session, move, "initialized", () => Requests.initialized, () => {
    if (session.agreed) session.ready = true
  })
}

export const instant: Make = (model, move) =>
  inSession(model, move, "instant", (id, key) => () => Requests.call(id, "instant", key), (session, id) => {
    const begun = begin(model, { session }, id)
    answer(model, begun, ": done")
    return begun
  })

export const wait: Make = (model, move) =>
  inSession(
    model,
    move,
    "wait",
    (id, key) => () => Requests.call(id, "wait", key),
    (session, id) => begin(model, { session }, id, { handler: true })
  )

export const report: Make = (model, move) =>
  inSession(model, move, "report", (id, key) => () => Requests.call(id, "report", key), (session, id) => {
    const begun = begin(model, { session }, id, { handler: true })
    model.stream(begun.call)
    begun.flow.say(`progress 1 of ${id}`)
    return begun
  })

export const ask: Make = (model, move) =>
  inSession(model, move, "ask", (id, key) => () => Requests.call(id, "ask", key), (session, id) => {
    if (session.version < "2025-06-18") {
      const begun = begin(model, { session }, id)
      answer(model, begun, ": CapabilityMissing")
      return begun
    }
    const begun = begin(model, { session }, id, { handler: true })
    begun.call.asks = true
    model.asked.push([session, begun.call.key])
    model.stream(begun.call)
    begun.flow.say(`ask ${begun.call.key}`)
    return begun
  })

export const subscribe: Make = (model, move) =>
  inSession(model, move, "subscribe", (id) => () => Requests.subscribe(id, Requests.watched), (session, id) => {
    const begun = begin(model, { session }, id)
    answer(model, begun, ": ok")
    session.subscribed = true
    return begun
  })

const outcomes = [
  [Requests.accept, ": name x"],
  [Requests.decline, ": Declined"],
  [Requests.dismiss, ": Cancelled"],
  [Requests.malformed, ": Unanswered"]
] as const

/** Answers a question: one that waits, one that does not wait any more, or none at all. */
export const reply: Make = (model, move) => {
  const asking = pick(model.callsOf(({ asks }) => asks), move.which)
  const late = move.kind * 1000 % 1 > 0.8 ? pick(model.asked, move.which) : undefined
  const session = late?.[0] ?? asking?.session ?? sessionFor(model, move.which)
  if (session === undefined) return undefined
  const key = late?.[1] ?? asking?.key ?? "nothing"
  const [result, outcome] = pick(outcomes, move.how) ?? outcomes[0]
  const body = (names: Names) => Requests.response(names.questionOf(key), result)
  const first = quiet(model, session, { ...move, how: 0 }, `reply to ${key}`, body, () => {
    for (const call of model.callsOf((call) => call.asks && call.key === key)) {
      // What its client has not heard of, it cannot answer.
      if (model.pipes.some(({ messages }) => messages.includes(`ask ${key}`))) model.settle(call, outcome)
    }
  })
  if (move.how < 0.8) return first
  const again = quiet(model, session, { ...move, how: 0 }, "and again", body, () => {})
  return { text: `${first.text} ${again.text}`, sends: [...first.sends, ...again.sends] }
}

export const cancel: Make = (model, move) => {
  const call = pick(model.callsOf(({ session }) => session !== undefined), move.which)
  const session = call?.session ?? sessionFor(model, move.which)
  if (session === undefined) return undefined
  const id = call?.id ?? 999
  return quiet(model, session, { ...move, how: 0 }, `cancel ${id}`, () => Requests.cancelled(id), () => {
    if (call !== undefined) model.cancel(call)
  })
}
