/** Streams of sessions and of answers: opened, cut, resumed; and the end of a session. */
import { pick } from "../../moves.ts"
import type { Flow, Pipe } from "../flow.ts"
import type { Model, Session } from "../model.ts"
import { byOf, callerOf, type Made, type Make, refusal, refused } from "./letIn.ts"

export const attach: Make = (model, move) => {
  if (!model.http) return undefined
  const session = pick(model.sessions, move.which)
  if (session === undefined) return undefined
  const principal = callerOf(session, move)
  const pipe = model.pipe("get")
  const no = refusal(model, session, principal)
  if (no !== undefined) refused(pipe, undefined, no)
  else attached(model, session, pipe)
  return {
    text: `attach ${pipe.name} to ${session.ref}`,
    sends: [{ _tag: "Attach", pipe: pipe.name, by: byOf(session, principal), resumes: undefined }]
  }
}

const attached = (model: Model, session: Session, pipe: Pipe): void => {
  const flow = model.flow(pipe, true)
  flow.answers = false
  flow.kept = model.setup.events
  model.own(flow, session)
  session.streams.push(flow)
  const waiting = Array.from(session.waiting)
  session.waiting.clear()
  for (const what of waiting) flow.say(what)
}

/** A client that leaves a stream has given up those that it left before. */
const giveUp = (model: Model, session: Session, left: Flow): void => {
  for (const flow of session.streams.filter((flow) => flow !== left && flow.reader === undefined)) {
    flow.end()
    model.detach(session, flow)
  }
}

/** The network, or the client, gives up a connection. */
export const cut: Make = (model, { which }) => {
  const flow = pick(model.flows.filter((flow) => !flow.ended && flow.reader !== undefined), which)
  const pipe = flow?.reader
  if (flow === undefined || pipe === undefined) return undefined
  const made: Made = { text: `cut ${pipe.name}`, sends: [{ _tag: "Cut", pipe: pipe.name }] }
  if (!model.http) {
    for (const call of model.callsOf(({ connection }) => connection === flow)) model.settle(call, undefined)
    for (const session of model.sessions) if (session.connection === flow) model.endSession(session, true)
    flow.end()
    return made
  }
  pipe.ended = true
  flow.reader = undefined
  const [call] = model.callsOf((call) => call.flow === flow)
  // Whoever says all in one request takes it back by leaving.
  if (call !== undefined && call.session === undefined) model.settle(call, undefined)
  const session = model.ownerOf(flow)
  if (call !== undefined || session === undefined) return made
  if (flow.kept) giveUp(model, session, flow)
  else model.detach(session, flow)
  return made
}

export const resume: Make = (model, move) => {
  if (!model.setup.events) return undefined
  const last = pick(model.pipes.filter(({ flow }) => flow !== undefined && flow.streamed && flow.kept), move.which)
  const flow = last?.flow
  const session = flow === undefined ? undefined : model.ownerOf(flow)
  if (last === undefined || flow === undefined || session === undefined) return undefined
  const place = last.from + last.messages.length
  // Older revisions give no id before the first event.
  if (place === 0 && session.version < "2025-11-25") return undefined
  const principal = callerOf(session, move)
  const pipe = model.pipe("get")
  const no = refusal(model, session, principal)
  if (no !== undefined) refused(pipe, undefined, no)
  else if (place < flow.lost || (flow.ended && flow.forgotten === flow.messages.length)) {
    refused(pipe, undefined, [400, -32_600])
  } else resumed(model, session, flow, pipe, place)
  return {
    text: `resume ${last.name} from ${place} as ${pipe.name}`,
    sends: [{ _tag: "Attach", pipe: pipe.name, by: byOf(session, principal), resumes: last.name }]
  }
}

const resumed = (model: Model, session: Session, flow: Flow, pipe: Pipe, place: number): void => {
  if (!flow.ended || flow.answers) {
    // Whoever comes back has left, heard of or not.
    if (!flow.answers && flow.reader !== undefined) giveUp(model, session, flow)
    return flow.connect(pipe, place)
  }
  // A stream of the session that is over goes on as another one.
  pipe.messages.push(...flow.messages.slice(place))
  const before = pipe.messages.length
  attached(model, session, pipe)
  pipe.from = -before
}

export const remove: Make = (model, move) => {
  if (!model.http) return undefined
  const session = pick(model.sessions, move.which)
  if (session === undefined) return undefined
  const principal = callerOf(session, move)
  const pipe = model.pipe("delete")
  const no = refusal(model, session, principal)
  if (no !== undefined) refused(pipe, undefined, no)
  else {
    pipe.status = 204
    pipe.ended = true
    model.endSession(session, true)
  }
  return { text: `delete ${session.ref}`, sends: [{ _tag: "Delete", pipe: pipe.name, by: byOf(session, principal) }] }
}
