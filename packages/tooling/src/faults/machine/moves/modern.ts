/** Requests that stand alone: calls, rounds, listen streams. */
import { pick } from "../../moves.ts"
import type { Json } from "../../wire.ts"
import type { Flow } from "../flow.ts"
import type { Model } from "../model.ts"
import * as Requests from "../requests.ts"
import type { By, Names } from "../send.ts"
import { answer, begin, type Begun, type Made, type Make, message, other, refused } from "./letIn.ts"

interface Where {
  readonly principal: string
  readonly connection: Flow | undefined
}

/** Somebody, over HTTP or over one of the connections. */
const somewhere = (model: Model, which: number): Where | undefined => {
  if (model.http) return { principal: which < 0.7 ? "a" : "b", connection: undefined }
  const connection = pick(model.connections.filter(({ ended }) => !ended), which)
  return connection === undefined ? undefined : { principal: "", connection }
}

const byOf = ({ connection, principal }: Where): By => ({ principal, connection: connection?.reader?.name })

/** A request that stands alone, where the server still takes any. */
export const alone = (
  model: Model,
  which: number | Where,
  text: string,
  body: (id: number, key: string) => (names: Names) => Json,
  run: (where: Where, id: number) => Begun
): Made | undefined => {
  const where = typeof which === "number" ? somewhere(model, which) : which
  if (where === undefined) return undefined
  const id = model.id()
  const made = (pipe: string): Made => ({
    text: `${text} ${id} by ${where.principal}`,
    sends: [{ _tag: "Message", pipe, by: byOf(where), body: body(id, `k${id}`) }]
  })
  if (!model.http || !model.draining) return made(run(where, id).pipe.name)
  const pipe = model.pipe("post")
  refused(pipe, undefined, [503, -32_603])
  return made(pipe.name)
}

const calling = (name: string) => (id: number, key: string) => () => Requests.modern(Requests.call(id, name, key))

export const instantAlone: Make = (model, { which }) =>
  alone(model, which, "modern instant", calling("instant"), (where, id) => {
    const begun = begin(model, where, id)
    answer(model, begun, ": done")
    return begun
  })

export const waitAlone: Make = (model, { which }) =>
  alone(model, which, "modern wait", calling("wait"), (where, id) => begin(model, where, id, { handler: true }))

export const reportAlone: Make = (model, { which }) =>
  alone(model, which, "modern report", calling("report"), (where, id) => {
    const begun = begin(model, where, id, { handler: true })
    model.stream(begun.call)
    begun.flow.say(`progress 1 of ${id}`)
    return begun
  })

export const askAlone: Make = (model, { which }) =>
  alone(model, which, "modern ask", calling("ask"), (where, id) => {
    const begun = begin(model, where, id)
    answer(model, begun, ": input_required")
    model.rounds.push({ id, key: `k${id}`, principal: where.principal })
    return begun
  })

const hows = ["accept", "decline", "missing", "tampered", "accept"] as const
const outcomes = {
  accept: ": name x",
  decline: ": Declined",
  missing: ": input_required",
  tampered: "! -32602"
} as const

/** The next round, or one like it: states may be sent again, by others they may not. */
export const retry: Make = (model, { how, kind, which }) => {
  const round = pick(model.rounds, which)
  if (round === undefined) return undefined
  const foreign = model.http && kind * 1000 % 1 > 0.85
  const principal = foreign ? other(round.principal) : round.principal
  const connection = model.http ? undefined : pick(model.connections.filter(({ ended }) => !ended), how)
  if (!model.http && connection === undefined) return undefined
  const choice = pick(hows, how) ?? "accept"
  const outcome = foreign ? outcomes.tampered : outcomes[choice]
  return alone(
    model,
    { principal, connection },
    `${choice} round ${round.id}`,
    (id) => Requests.retry(id, round, choice),
    (where, id) => {
      const begun = begin(model, where, id)
      answer(model, begun, outcome)
      if (outcome === outcomes.missing) model.rounds.push({ id, key: round.key, principal })
      return begun
    }
  )
}

export const listen: Make = (model, { which }) =>
  alone(model, which, "listen", (id) => () => Requests.listen(id), (where, id) => {
    const begun = begin(model, where, id, { kind: "listen" })
    model.stream(begun.call)
    begun.flow.say("subscriptions/acknowledged")
    return begun
  })

/** Over a connection a request is taken back by a notice; over HTTP by leaving. */
export const cancelAlone: Make = (model, { which }) => {
  if (model.http) return undefined
  const call = pick(model.callsOf(({ session }) => session === undefined), which)
  const pipe = call?.connection?.reader
  if (call === undefined || pipe === undefined) return undefined
  model.settle(call, undefined)
  return {
    text: `cancel modern ${call.id}`,
    sends: [message(pipe, { principal: "", connection: pipe.name }, () => Requests.cancelled(call.id))]
  }
}
