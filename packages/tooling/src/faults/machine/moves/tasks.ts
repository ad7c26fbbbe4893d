/** Tasks, in both dialects. */
import { pick } from "../../moves.ts"
import type { Model, Session, Task } from "../model.ts"
import * as Requests from "../requests.ts"
import { answer, begin, type Begun, inSession, type Made, type Make } from "./letIn.ts"
import { alone } from "./modern.ts"

const speaks = ({ version }: Session): boolean => version === "2025-11-25"

const born = (model: Model, principal: string, begun: Begun): Begun => {
  const { id, key } = begun.call
  answer(model, begun, ": task")
  model.tasks.push({ id, key, principal, status: "working" })
  return begun
}

export const task: Make = (model, move) =>
  inSession(
    model,
    move,
    "task",
    (id, key) => () => Requests.asTask(id, key),
    (session, id) => born(model, session.principal, begin(model, { session }, id)),
    speaks
  )

export const taskAlone: Make = (model, { which }) =>
  alone(
    model,
    which,
    "modern task",
    (id, key) => () => Requests.modern(Requests.call(id, "job", key), true),
    (where, id) => born(model, where.principal, begin(model, where, id))
  )

const missing = "! -32602"

/** What the end of a task answers those who wait for its result. */
const outcomes = { completed: ": done", failed: "! -32603", cancelled: "! -32600" } as const

const result = (model: Model, session: Session, id: number, of: Task): Begun => {
  const begun = begin(model, { session }, id, { kind: "result", task: of })
  if (of.principal !== session.principal) answer(model, begun, missing)
  else if (of.status !== "working") answer(model, begun, outcomes[of.status])
  return begun
}

const cancelled = (model: Model, of: Task): void => model.endTask(of, "cancelled", outcomes.cancelled)

const core = (model: Model, session: Session, id: number, of: Task, method: "get" | "cancel"): Begun => {
  const begun = begin(model, { session }, id)
  if (of.principal !== session.principal) answer(model, begun, missing)
  else if (method === "get") answer(model, begun, `: ${of.status}`)
  else if (of.status !== "working") answer(model, begun, missing)
  else {
    cancelled(model, of)
    answer(model, begun, ": cancelled")
  }
  return begun
}

const methods = ["get", "result", "cancel"] as const

export const ofTask: Make = (model, move) => {
  const of = pick(model.tasks, move.kind * 1000 % 1)
  const method = pick(methods, move.kind * 100 % 1) ?? "get"
  if (of === undefined) return undefined
  return inSession(
    model,
    move,
    `tasks/${method} of ${of.id}`,
    (id) => (names) => Requests.ofTask(method, id, names.task(of.id)),
    (session, id) => method === "result" ? result(model, session, id, of) : core(model, session, id, of, method),
    speaks
  )
}

export const ofTaskAlone: Make = (model, move): Made | undefined => {
  const of = pick(model.tasks, move.kind * 1000 % 1)
  const method = move.how < 0.6 ? "get" : "cancel"
  if (of === undefined) return undefined
  return alone(
    model,
    move.which,
    `modern tasks/${method} of ${of.id}`,
    (id) => (names) => Requests.modern(Requests.ofTask(method, id, names.task(of.id)), true),
    (where, id) => {
      const begun = begin(model, where, id)
      if (of.principal !== where.principal) answer(model, begun, missing)
      else if (method === "get") answer(model, begun, `: ${of.status}`)
      else {
        cancelled(model, of)
        answer(model, begun, ": ok")
      }
      return begun
    }
  )
}
