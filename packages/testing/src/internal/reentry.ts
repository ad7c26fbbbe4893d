/**
 * Sends every request that may ask twice to its server: a rehearsal first, whose outcome nobody gets, and then the request
 * itself. A handler that asks, or takes steps, in another way the second time does not survive its own rounds.
 */
import * as Codes from "@mcpfx/schema/Codes"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import * as Methods from "@mcpfx/schema/Methods"
import * as StepStore from "@mcpfx/server/StepStore"
import { RequestContext } from "@mcpfx/session/RequestContext"
import type { Endpoint } from "@mcpfx/transport/Endpoint"
import type { Exchange } from "@mcpfx/transport/Exchange"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

const mayAsk: ReadonlySet<string> = new Set([
  Methods.ToolsCall.name,
  Methods.PromptsGet.name,
  Methods.ResourcesRead.name
])

const isModern = ({ params }: JsonRpc.Request): boolean => {
  const meta = params?.["_meta"]
  return JsonRpc.isJsonObject(meta) && MetaKey.protocolVersion in meta
}

/** The steps that the passes over one request have taken, by the id of the request. */
export class Steps {
  private readonly taken = new Map<JsonRpc.RequestId, Array<string>>()

  add(id: JsonRpc.RequestId | undefined, step: string): void {
    if (id === undefined) return
    const steps = this.taken.get(id) ?? []
    this.taken.set(id, steps)
    if (!steps.includes(step)) steps.push(step)
  }

  /** What was taken, and is then forgotten. */
  take(id: JsonRpc.RequestId): ReadonlyArray<string> {
    const steps = this.taken.get(id) ?? []
    this.taken.delete(id)
    return steps
  }
}

/** A store of steps that notes who takes which. Keys of the store are those of a call, a dot, and the step's own. */
export const layerSteps = (steps: Steps): Layer.Layer<StepStore.StepStore> =>
  Layer.effect(
    StepStore.StepStore,
    Effect.map(StepStore.StepStore, (store) => ({
      get: store.get,
      compareAndSet: (key, expected, next, life) =>
        Effect.contextWith((context: Context.Context<never>) => {
          steps.add(Context.getOrUndefined(context, RequestContext)?.id, key.slice(key.indexOf(".") + 1))
          return store.compareAndSet(key, expected, next, life)
        })
    }))
  ).pipe(Layer.provide(StepStore.layerMemory()))

const asksOf = (answer: JsonRpc.Outgoing | undefined): JsonRpc.JsonObject | undefined => {
  if (answer === undefined || !("result" in answer) || !JsonRpc.isJsonObject(answer.result)) return undefined
  const { inputRequests, resultType } = answer.result
  return resultType === "input_required" && JsonRpc.isJsonObject(inputRequests) ? inputRequests : undefined
}

const differences = (
  first: JsonRpc.JsonObject | undefined,
  second: JsonRpc.JsonObject | undefined
): ReadonlyArray<string> => {
  const names = new Set([...Object.keys(first ?? {}), ...Object.keys(second ?? {})])
  return [...names].filter((name) => JSON.stringify(first?.[name]) !== JSON.stringify(second?.[name])).map((name) =>
    `ask ${name}`
  )
}

const notIn = (some: ReadonlyArray<string>, others: ReadonlyArray<string>): ReadonlyArray<string> =>
  some.filter((step) => !others.includes(step)).map((step) => `step ${step}`)

/** Whether the id of a request is that of its rehearsal. */
const rehearsalOf = (id: JsonRpc.RequestId): JsonRpc.RequestId => `rehearsal of ${JSON.stringify(id)}`

/** The endpoint, behind a door through which each request goes twice. What it starts ends with the scope. */
export const twice = (
  endpoint: Endpoint["Service"],
  steps: Steps,
  scope: Scope.Scope
): Endpoint["Service"] => ({
  ...endpoint,
  handle: (exchange) => {
    const { message } = exchange
    return JsonRpc.isRequest(message) && mayAsk.has(message.method) && isModern(message)
      ? Effect.as(Effect.forkIn(both(endpoint, steps, exchange, message), scope, { startImmediately: true }), {})
      : endpoint.handle(exchange)
  }
})

const both = Effect.fnUntraced(function*(
  endpoint: Endpoint["Service"],
  steps: Steps,
  exchange: Exchange,
  message: JsonRpc.Request
) {
  const id = rehearsalOf(message.id)
  const first = yield* pass(endpoint, { ...exchange, message: { ...message, id } }, () => Effect.void)
  const second = yield* pass(endpoint, exchange, exchange.outlet.push)
  const before = steps.take(id)
  const after = steps.take(message.id)
  const found = [...differences(asksOf(first), asksOf(second)), ...notIn(before, after), ...notIn(after, before)]
  if (second === undefined) return exchange.outlet.end()
  exchange.outlet.answer(
    found.length === 0 ? second : JsonRpc.failure(message.id, {
      code: Codes.internalError,
      message: `two passes over ${message.method} differ: ${found.join(", ")}`
    })
  )
})

/** One pass: its answer, or nothing where it was taken back. */
const pass = Effect.fnUntraced(function*(
  endpoint: Endpoint["Service"],
  exchange: Exchange,
  push: Exchange["outlet"]["push"]
) {
  const answer = yield* Deferred.make<JsonRpc.Outgoing | undefined>()
  const done = (message: JsonRpc.Outgoing | undefined) => {
    Deferred.doneUnsafe(answer, Effect.succeed(message))
  }
  yield* Effect.catch(
    endpoint.handle({ ...exchange, outlet: { answer: done, end: () => done(undefined), push } }),
    (rejected) => {
      const { message } = exchange
      done(JsonRpc.isRequest(message) ? JsonRpc.failure(message.id, rejected.error) : undefined)
      return Effect.void
    }
  )
  return yield* Deferred.await(answer)
})
