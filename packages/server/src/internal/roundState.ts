/** What one round leaves for the next: who asked what, what was answered, how steps ended. */
import type { InputRequest } from "@mcpfx/schema/InputRequired"
import type { JsonObject } from "@mcpfx/schema/JsonRpc"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** A question that was sent. */
export interface Asked {
  /** Of what was asked. */
  readonly digest: string
  readonly method: InputRequest["method"]
  readonly at: number
}

/** An answer, as JSON of the neutral model. */
export interface Answered {
  readonly value: JsonObject
  readonly at: number
}

export interface Trace {
  readonly traceId: string
  readonly spanId: string
}

export interface RoundState {
  /** The round that ended, from 1. */
  readonly round: number
  /** Whose request it is, and which one. */
  readonly principal: string
  readonly request: string
  /** When the state is worth nothing any more, in milliseconds. */
  readonly expires: number
  /** What the steps of the whole call share. */
  readonly call: string
  readonly asked: ReadonlyMap<string, Asked>
  readonly answers: ReadonlyMap<string, Answered>
  /** Results of steps, as JSON. */
  readonly steps: ReadonlyMap<string, unknown>
  /** The last progress that was sent. */
  readonly progress: number | undefined
  /** Of the first round. */
  readonly trace: Trace | undefined
}

const Members = Schema.Record(Schema.String, Schema.Unknown)

/** Pairs, since names may be any text. */
const Wire = Schema.Struct({
  v: Schema.Literal(1),
  r: Schema.Int,
  p: Schema.String,
  q: Schema.String,
  e: Schema.Finite,
  c: Schema.String,
  a: Schema.Array(Schema.Tuple([
    Schema.String,
    Schema.String,
    Schema.Literals(["elicitation/create", "sampling/createMessage", "roots/list"]),
    Schema.Finite
  ])),
  n: Schema.Array(Schema.Tuple([Schema.String, Members, Schema.Finite])),
  s: Schema.Array(Schema.Tuple([Schema.String, Schema.Unknown])),
  g: Schema.optionalKey(Schema.Finite),
  t: Schema.optionalKey(Schema.Tuple([Schema.String, Schema.String]))
})

const isWire = Schema.is(Wire)

export const write = (state: RoundState): string => {
  const wire: typeof Wire.Type = {
    v: 1,
    r: state.round,
    p: state.principal,
    q: state.request,
    e: state.expires,
    c: state.call,
    a: Array.from(state.asked, ([key, one]) => [key, one.digest, one.method, one.at]),
    n: Array.from(state.answers, ([key, one]) => [key, one.value, one.at]),
    // `undefined` has no JSON; the nearest thing to it has.
    s: Array.from(state.steps, ([key, value]) => [key, value ?? null]),
    ...(state.progress === undefined ? undefined : { g: state.progress }),
    ...(state.trace === undefined ? undefined : { t: [state.trace.traceId, state.trace.spanId] })
  }
  return JSON.stringify(wire)
}

export const parse = (text: string): unknown => Result.getOrUndefined(Result.try((): unknown => JSON.parse(text)))

export const read = (text: string): RoundState | undefined => {
  const wire = parse(text)
  if (!isWire(wire)) return undefined
  return {
    round: wire.r,
    principal: wire.p,
    request: wire.q,
    expires: wire.e,
    call: wire.c,
    asked: new Map(wire.a.map(([key, digest, method, at]) => [key, { digest, method, at }])),
    answers: new Map(wire.n.map(([key, value, at]) => [key, { value, at }])),
    steps: new Map(wire.s),
    progress: wire.g,
    trace: wire.t === undefined ? undefined : { traceId: wire.t[0], spanId: wire.t[1] }
  }
}

/** What takes the most room. */
export const largest = (state: RoundState): string => {
  let found = "the arguments"
  let size = 0
  const look = (key: string, value: unknown) => {
    const length = JSON.stringify(value)?.length ?? 0
    if (length <= size) return
    found = key
    size = length
  }
  for (const [key, answer] of state.answers) look(key, answer.value)
  for (const [key, value] of state.steps) look(key, value)
  for (const [key, asked] of state.asked) look(key, [key, asked])
  return found
}
