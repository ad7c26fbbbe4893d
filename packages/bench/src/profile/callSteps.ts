/** What a request goes through between its transport and its answer, whatever the transport. */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type { McpError } from "@mcpfx/schema/McpError"
import * as Meta from "@mcpfx/schema/Meta"
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import * as InFlight from "@mcpfx/session/InFlight"
import { RequestContext } from "@mcpfx/session/RequestContext"
import type { Agreed } from "@mcpfx/session/Session"
import type { Facts, Outlet } from "@mcpfx/transport/Exchange"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Add, type Parts, sum } from "./fixture.ts"
import { type Client, type Host, LiveContext, named, parseJson, Single } from "./internals.ts"
import { type Step, step } from "./path.ts"
import { each, type Probe } from "./probe.ts"

/** Takes an answer and lets it go. */
export const sinkhole: Outlet = { answer: () => {}, end: () => {}, push: () => Effect.void }

const host: Host = {
  visibleId: "profile",
  currentLevel: () => undefined,
  askerOn: () => undefined,
  get peer(): never {
    throw new Error("nobody is asked here")
  }
}

/** A call of `add` and what is known where it comes in. */
export interface Incoming {
  readonly parts: Parts
  readonly message: JsonRpc.Request
  readonly revision: Revision
  readonly facts: Facts
}

const agreedOn = (revision: Revision): Agreed => ({
  revision,
  clientCapabilities: {},
  clientInfo: { name: "bench", version: "1.0.0" },
  initialized: true
})

/** The request context, as the era of the revision makes it. */
export const contextOf = ({ facts, message, revision }: Incoming): () => RequestContext["Service"] => {
  const agreed = agreedOn(revision)
  const client: Client = { ...agreed, facts, logLevel: undefined, sessionId: undefined }
  return revision.era === "modern"
    ? () => new Single(message, client, sinkhole)
    : () => new LiveContext(host, message, agreed, facts, sinkhole)
}

const answer = Effect.succeed({ content: [{ type: "text", text: "12346" }] })

/** Serves requests as sessions do: on this stack, where they end at once. */
const makeRunner = ({ message, revision }: Incoming, watcher: RequestContext["Service"]) => {
  const table = InFlight.makeUnsafe({ limit: 1024 })
  const context = Context.add(Context.makeUnsafe<never>(new Map()), RequestContext, watcher)
  return (begin: () => Effect.Effect<JsonRpc.ResultBody, McpError>): Probe =>
    each(() =>
      table.start({
        id: 1,
        method: message.method,
        outlet: sinkhole,
        revision,
        begin,
        context: () => context,
        watcher: watcher instanceof LiveContext || watcher instanceof Single ? watcher : undefined
      })
    )
}

/** The steps of a call of `add`, from its request context to its encoded result. */
export const callSteps = (incoming: Incoming): ReadonlyArray<Step> => {
  const { message, parts, revision } = incoming
  const { dispatcher, registry } = parts
  const codec = must(revision.request(Methods.ToolsCall))
  const params = message.params ?? {}
  const args = params["arguments"]
  const makeContext = contextOf(incoming)
  const context = makeContext()
  const base = Context.makeUnsafe<never>(new Map())
  const result = { content: [{ type: "text" as const, text: "12346" }] }
  const run = makeRunner(incoming, context)
  const empty = step("place among the requests in flight; a fiber and a scope where it needs them", run(() => answer))
  const inside = [
    step("route looked up", each(() => dispatcher.has(message.method, context))),
    step("params decoded", each(() => codec.decodeParams(params))),
    step("tool looked up, to run it", each(() => registry.snapshot().tool("add"))),
    step("arguments decoded by their Schema", each(() => Add.decodeInput(args))),
    step("handler", each((index) => sum({ a: index, b: 1 }))),
    step("result encoded", each(() => codec.encodeResult(result)))
  ]
  const whole = run(() => dispatcher.request(message, context))
  return [
    step("request context made and added", each(() => Context.add(base, RequestContext, makeContext()))),
    step("tool looked up, for scopes", each(() => named(registry.snapshot(), message, () => context))),
    empty,
    ...inside,
    step("what ties these together (difference)", whole, [empty, ...inside])
  ]
}

/** From a text to its message. */
export const parseSteps = (text: string, depth: number): ReadonlyArray<Step> => {
  const value: unknown = JSON.parse(text)
  return [
    step("JSON.parse, after a look at the depth", each(() => parseJson(text, depth))),
    step("envelope checked", each(() => JsonRpc.parse(value)))
  ]
}

/** Whether the request says who sends it: the fork between the eras. */
export const eraStep = ({ message }: Incoming): Step =>
  step("era: is there an envelope", each(() => Meta.modernEnvelope(message.params)))

/** What a decoder made of something, where it has to succeed. */
export const decoded = <A, E>(result: Result.Result<A, E>): A => {
  if (Result.isFailure(result)) throw new Error(`unreadable: ${JSON.stringify(result.failure)}`)
  return result.success
}

/** What has to be there. */
export const must = <A>(value: A | undefined): A => {
  if (value === undefined) throw new Error("something is missing that the profile needs")
  return value
}
