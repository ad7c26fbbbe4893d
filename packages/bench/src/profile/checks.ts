/** What is paid when something is used, and what is paid for it when it is not: the whole of a call with it and without. */
import * as Tool from "@mcpfx/schema/Tool"
import * as McpServer from "@mcpfx/server/McpServer"
import * as Middleware from "@mcpfx/server/Middleware"
import * as Telemetry from "@mcpfx/session/Telemetry"
import { EventStore, layerMemory } from "@mcpfx/transport/EventStore"
import type * as StreamableHttpServer from "@mcpfx/transport/StreamableHttpServer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import * as Messages from "../messages.ts"
import { begin, calls } from "./conversation.ts"
import { Add, adding, endpointOf, options, sum } from "./fixture.ts"
import { headersOf, makeCaller, openSession, requests } from "./httpCalls.ts"
import { layerStatic, protect } from "./internals.ts"
import { expectIn } from "./path.ts"
import { window } from "./paths/stdio.ts"
import type { Probe } from "./probe.ts"

export interface Variant {
  readonly name: string
  /** When it is paid. */
  readonly when: string
  readonly probe: Probe
  readonly verify: () => Promise<void>
}

/** A base and what it is held against, all over the same transport. */
export interface Family {
  readonly title: string
  readonly base: Variant
  readonly variants: ReadonlyArray<Variant>
}

const template = Messages.add("2025-11-25")

type Registered = Layer.Layer<never, unknown, McpServer.Provided>
type Making = Effect.Effect<Variant, unknown, Scope.Scope>

const overLines = (
  name: string,
  when: string,
  registered: Registered,
  settings: McpServer.Options = options
): Making =>
  Effect.gen(function*() {
    const conversation = yield* begin(yield* endpointOf(registered, settings), "2025-11-25")
    return {
      name,
      when,
      probe: calls(conversation, template.body, window),
      verify: async () => expectIn((await conversation.exchange(template.body(7)))[0], "8")
    }
  })

const passing = (index: number) => Middleware.make()(`passing-${index}`, (next, call) => next(call))

const inside = (depth: number): Registered => {
  let layer: Registered = adding
  for (let index = 0; index < depth; index++) layer = layer.pipe(Middleware.apply(passing(index)))
  return layer
}

/** Spans that go nowhere: what is left is what they cost to make. */
const listening = Tracer.make({ span: (span) => new Tracer.NativeSpan(span) })

const Summing = Tool.make("add", {
  input: { a: Schema.Finite, b: Schema.Finite },
  output: { sum: Schema.Finite }
})

const Beside = Tool.make("beside", { task: "may", asks: ["elicitation.form"] })

const many = Array.from(
  { length: 999 },
  (_, index) => McpServer.tool(Tool.make(`tool_${index}`, {}), () => Effect.void)
)

const lineVariants: ReadonlyArray<Making> = [
  overLines(
    "another tool may run as a task, and may ask",
    "an endpoint that has one, at every call",
    Layer.merge(
      adding,
      McpServer.tool(Beside, () => Effect.void)
    )
  ),
  overLines("999 other tools", "never", Layer.mergeAll(adding, ...many)),
  overLines("middleware that passes on, once", "calls of tools inside of it", inside(1)),
  overLines("middleware that passes on, 5 deep", "calls of tools inside of it", inside(5)),
  overLines(
    "an output schema of one field",
    "calls of tools that have one",
    McpServer.tool(Summing, ({ a, b }) => Effect.succeed({ sum: a + b }))
  ),
  overLines(
    "visible to some",
    "calls of tools that say so",
    McpServer.tool(Add, sum, { visible: () => true })
  ),
  overLines(
    "scopes that have to be there (none are)",
    "calls of tools that say so",
    McpServer.tool(Add, sum, { scopes: [] })
  ),
  overLines(
    "at most so many calls of a tool",
    "calls of tools that say so",
    McpServer.tool(Add, sum, { concurrency: 64 })
  ),
  overLines("at most so many calls in all", "all calls, where the limit is set", adding, {
    ...options,
    limits: { concurrency: 1024 }
  }),
  overLines(
    "a handler that needs its fiber (Effect.sync)",
    "handlers that are more than a value",
    McpServer.tool(Add, ({ a, b }) => Effect.sync(() => String(a + b)))
  ),
  overLines(
    "spans, to a tracer that does nothing",
    "all requests, where a tracer is installed",
    adding
  ).pipe(Effect.provideService(Tracer.Tracer, listening)),
  overLines("metrics", "all requests, where they are switched on", adding).pipe(
    Effect.provide(Telemetry.layer({ metrics: true }))
  )
]

const token = "t-ada"
const origin = "http://127.0.0.1:5173"

const overHttp = (
  name: string,
  when: string,
  settings: StreamableHttpServer.Options = {},
  added: Record<string, string> = {}
): Making =>
  Effect.gen(function*() {
    const caller = yield* makeCaller(yield* endpointOf(adding), settings)
    const session = yield* Effect.promise(() => openSession(caller, added))
    const headers = { ...headersOf(template, session), ...added }
    return {
      name,
      when,
      probe: requests(caller, Headers.fromInput(headers), template.body),
      verify: async () => expectIn((await caller.call(headers, template.body(7))).text, "8")
    }
  })

const guarded: Making = Effect.gen(function*() {
  const verifier = yield* Layer.build(layerStatic({ tokens: { [token]: { subject: "ada" } } }))
  const gate = yield* Effect.provideContext(protect({ resource: "http://127.0.0.1:3000/mcp" }), verifier)
  return yield* overHttp(
    "a token in a list, checked",
    "all requests, where a server is protected",
    { middleware: (app) => gate(app) },
    { authorization: `Bearer ${token}` }
  )
})

const httpVariants: ReadonlyArray<Making> = [
  overHttp("a page as the caller: Origin checked, CORS headers", "requests with an Origin", {}, { origin }),
  overHttp("a list of allowed hosts", "never more than without", {
    allowedHosts: ["127.0.0.1:3000", "mcp.example.com"]
  }),
  Effect.gen(function*() {
    const store = yield* Layer.build(layerMemory)
    return yield* Effect.provideService(
      overHttp("streams that can be resumed", "answers that become a stream, where there is a store"),
      EventStore,
      Context.get(store, EventStore)
    )
  }),
  guarded
]

const family = (
  title: string,
  base: Making,
  variants: ReadonlyArray<Making>
): Effect.Effect<Family, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const made: Array<Variant> = []
    for (const variant of variants) made.push(yield* variant)
    return { title, base: yield* base, variants: made }
  })

export const families: ReadonlyArray<Effect.Effect<Family, unknown, Scope.Scope>> = [
  family("call over stdio, 2025-11-25", overLines("nothing of it", "", adding), lineVariants),
  family("call over HTTP with a session, 2025-11-25", overHttp("nothing of it", ""), httpVariants)
]
