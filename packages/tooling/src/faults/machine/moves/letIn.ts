/** What the moves have in common: how a message of a session is let in, begun and refused. */
import { type Move, pick } from "../../moves.ts"
import type { Json } from "../../wire.ts"
import type { Flow, Pipe } from "../flow.ts"
import type { Call, Model, Session } from "../model.ts"
import type { By, Names, Send } from "../send.ts"

/** What a move comes to, or nothing where it does not apply. */
export interface Made {
  readonly text: string
  readonly sends: ReadonlyArray<Send>
}

export type Make = (model: Model, move: Move) => Made | undefined

export const other = (principal: string): string => principal === "a" ? "b" : "a"

/** Once in a while somebody else comes with the id of a session. */
export const callerOf = (session: Session, { how }: Move): string =>
  how > 0.93 && session.connection === undefined ? other(session.principal) : session.principal

export const byOf = (session: Session, principal: string): By => ({
  principal,
  session: session.ref,
  version: session.version,
  connection: session.connection?.reader?.name
})

/** What a message of a session meets before anything looks at it; `undefined` where it is let in. */
export const refusal = (
  model: Model,
  session: Session,
  principal: string
): readonly [status: number, code: number] | undefined => {
  if (model.http && model.draining) return [503, -32_000]
  if (!session.loaded && session.connection === undefined && session.stale) session.over = true
  if (session.over || session.principal !== principal) return [404, -32_001]
  session.loaded = true
  session.stale = false
  return undefined
}

export const refused = (pipe: Pipe, id: number | undefined, [status, code]: readonly [number, number]): void => {
  pipe.status = status
  // What is refused before its body was read has no id to answer to.
  pipe.messages.push(`${id === undefined || status === 503 ? "-" : id}! ${code}`)
  pipe.ended = true
}

export interface Begun {
  readonly pipe: Pipe
  readonly flow: Flow
  readonly call: Call
}

/** Begins a request of a session, or one that stands alone. */
export const begin = (
  model: Model,
  where: { readonly session?: Session; readonly connection?: Flow | undefined },
  id: number,
  parts: Partial<Pick<Call, "key" | "kind" | "handler" | "task">> = {}
): Begun => {
  const connection = where.connection ?? where.session?.connection
  const pipe = connection?.reader ?? model.pipe("post")
  const flow = connection ?? model.flow(pipe)
  if (model.http && where.session !== undefined) model.own(flow, where.session)
  const call: Call = {
    id,
    key: parts.key ?? `k${id}`,
    kind: parts.kind ?? "handler",
    flow,
    session: where.session,
    connection,
    handler: parts.handler ?? false,
    task: parts.task,
    asks: false
  }
  model.calls.add(call)
  return { pipe, flow, call }
}

/** Answers at once. */
export const answer = (model: Model, { call }: Begun, text: string): void => model.settle(call, text)

export const message = (pipe: Pipe, by: By, body: (names: Names) => Json): Send => ({
  _tag: "Message",
  pipe: pipe.name,
  by,
  body
})

export const sessionOf = (ref: string, principal: string, version: string, connection: Flow | undefined): Session => ({
  ref,
  principal,
  version,
  connection,
  over: false,
  loaded: true,
  agreed: connection === undefined,
  ready: false,
  stale: false,
  streams: [],
  subscribed: false,
  waiting: new Set()
})

/** The session of a connection, made by the first message that wants one. */
export const connected = (model: Model, which: number): Session | undefined => {
  const connection = pick(model.connections.filter(({ ended }) => !ended), which)
  const pipe = connection?.reader
  if (connection === undefined || pipe === undefined) return undefined
  const known = model.sessions.find((session) => session.connection === connection)
  if (known !== undefined) return known
  const made = { ...sessionOf(pipe.name, "", "2025-11-25", connection), loaded: false }
  model.sessions.push(made)
  return made
}

export const sessionFor = (model: Model, which: number): Session | undefined =>
  model.http ? pick(model.sessions, which) : connected(model, which)

/** Refuses a message of a session; gives where that is heard. */
export const refuse = (
  model: Model,
  session: Session,
  id: number | undefined,
  why: readonly [number, number]
): Pipe => {
  if (session.connection?.reader !== undefined) {
    if (id !== undefined) session.connection.say(`${id}! ${why[1]}`)
    return session.connection.reader
  }
  const pipe = model.pipe("post")
  refused(pipe, id, why)
  return pipe
}

/** A message that gets no answer: a notification or a response. */
export const quiet = (
  model: Model,
  session: Session,
  move: Move,
  text: string,
  body: (names: Names) => Json,
  then: () => void
): Made => {
  const principal = callerOf(session, move)
  // Nothing that needs no answer makes a session on a connection.
  const loaded = session.loaded
  const no = refusal(model, session, principal)
  let pipe: Pipe
  if (session.connection !== undefined && !loaded) session.loaded = false
  if (no !== undefined) pipe = refuse(model, session, undefined, no)
  else {
    then()
    pipe = session.connection?.reader ?? model.pipe("post")
    if (model.http) {
      pipe.status = 202
      pipe.ended = true
    }
  }
  return { text: `${text} in ${session.ref}`, sends: [message(pipe, byOf(session, principal), body)] }
}

/** What stands in the way of a request of a session. */
export const hindrance = (
  model: Model,
  session: Session,
  principal: string,
  id: number
): readonly [number, number] | undefined => {
  const no = refusal(model, session, principal)
  if (no !== undefined) return no
  const taken = model.callsOf((call) => call.session === session && call.id === id).length > 0
  return taken || !session.agreed ? [400, -32_600] : undefined
}

export const inSession = (
  model: Model,
  move: Move,
  text: string,
  body: (id: number, key: string) => (names: Names) => Json,
  run: (session: Session, id: number) => Begun,
  wanted: (session: Session) => boolean = () => true
): Made | undefined => {
  const session = sessionFor(model, move.which)
  if (session === undefined || !wanted(session)) return undefined
  const principal = callerOf(session, move)
  const running = pick(model.callsOf((call) => call.session === session), move.how)
  const id = running !== undefined && move.how > 0.8 ? running.id : model.id()
  const no = hindrance(model, session, principal, id)
  const pipe = no === undefined ? run(session, id).pipe : refuse(model, session, id, no)
  return {
    text: `${text} ${id} in ${session.ref} by ${principal}`,
    sends: [message(pipe, byOf(session, principal), body(id, `k${id}`))]
  }
}
