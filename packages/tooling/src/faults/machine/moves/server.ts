/** What the server does, and the clock. */
import { pick } from "../../moves.ts"
import type { Model, Session } from "../model.ts"
import { watched } from "../requests.ts"
import type { Send } from "../send.ts"
import { type Make } from "./letIn.ts"

/** Lets a handler go on, be it of a call or of a task. */
export const release: Make = (model, { which }) => {
  const keys = [
    ...model.callsOf(({ asks, handler }) => handler && !asks).map(({ key }) => key),
    ...model.tasks.filter(({ status }) => status === "working").map(({ key }) => key)
  ]
  const key = pick(keys, which)
  if (key === undefined) return undefined
  for (const call of model.callsOf((call) => call.handler && call.key === key)) model.settle(call, ": done")
  for (const task of model.tasks) if (task.key === key) model.endTask(task, "completed", ": done")
  return { text: `release ${key}`, sends: [{ _tag: "Release", key }] }
}

/** Changes are gathered for so long. */
const gathering = 200

const hears = (session: Session, resource: boolean): boolean =>
  session.loaded && (resource ? session.subscribed : session.ready)

export const change: Make = (model, { which }) => {
  const resource = which < 0.5
  const what = resource ? "resources/updated" : "tools/list_changed"
  for (const session of model.sessions) if (hears(session, resource)) model.tell(session, what)
  for (const call of model.callsOf(({ kind }) => kind === "listen")) call.flow.say(what)
  model.advance(gathering)
  const change: Send = { _tag: "Change", change: resource ? { kind: "resource", uri: watched } : { kind: "tools" } }
  return { text: what, sends: [change, { _tag: "Advance", millis: gathering }] }
}

const short = 2000

export const tick: Make = (model) => {
  model.advance(short)
  return { text: "two seconds", sends: [{ _tag: "Advance", millis: short }] }
}

/** Longer than sessions idle, than events are kept and than questions wait, and shorter than tasks live. */
const long = 31 * 60_000

export const jump: Make = (model) => {
  for (const call of model.callsOf(({ asks }) => asks)) {
    call.flow.say(`cancelled ${call.key}`)
    model.settle(call, ": AskTimeout")
  }
  for (const session of model.sessions) {
    for (const flow of session.streams.filter(({ reader }) => reader === undefined)) {
      flow.end()
      model.detach(session, flow)
    }
    const busy = session.connection !== undefined || session.streams.length > 0 ||
      model.callsOf((call) => call.session === session).length > 0
    session.stale = true
    if (session.loaded && !busy) model.endSession(session, true)
  }
  for (const flow of model.flows) {
    flow.forgotten = flow.messages.length
    flow.lost = flow.ended ? Number.POSITIVE_INFINITY : flow.forgotten
  }
  for (let i = model.rounds.length; i > 0; i--) model.rounds.pop()
  model.advance(long)
  return { text: "half an hour", sends: [{ _tag: "Advance", millis: long }] }
}

/** What is in flight may go on for so long. */
const grace = 10_000

export const drain: Make = (model) => {
  if (!model.http || model.draining) return undefined
  model.draining = true
  for (const call of model.callsOf(({ kind }) => kind === "listen")) model.settle(call, ": ok")
  endStreams(model)
  model.advance(grace)
  for (const call of model.calls) model.cancel(call)
  for (const session of model.sessions) if (session.loaded) model.endSession(session, false)
  return { text: "drain", sends: [{ _tag: "Drain" }, { _tag: "Advance", millis: grace }] }
}

const endStreams = (model: Model): void => {
  for (const session of model.sessions) for (const flow of session.streams.splice(0)) flow.end()
}

export const restart: Make = (model) => {
  endStreams(model)
  for (const call of model.calls) {
    const { flow, session } = call
    if (model.http && !flow.streamed && flow.reader !== undefined) {
      flow.reader.status = 503
      flow.say(`-! ${session === undefined ? -32_603 : -32_000}`)
    }
    model.settle(call, undefined)
  }
  for (const session of model.sessions) if (session.loaded) model.endSession(session, !model.http)
  for (const session of model.sessions) session.loaded = false
  for (const flow of model.flows) flow.end()
  for (const task of model.tasks) if (task.status === "working") task.status = "failed"
  model.rounds.splice(0)
  model.draining = false
  return { text: "restart", sends: [{ _tag: "Restart" }] }
}
