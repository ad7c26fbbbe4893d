/** The offer, made with the modules of `effect/ai`. */
import { NodeRuntime, NodeStdio } from "@effect/platform-node"
import { Effect, Layer, Logger, Schema } from "effect"
import { McpProtocol, McpSchema, McpServer, Tool, Toolkit } from "effect/ai"
import { HttpRouter, HttpServer } from "effect/http"
import * as LoopbackServer from "../loopbackServer.ts"
import * as Offer from "./offer.ts"
import { inputEnded, listening, revision, transport } from "./start.ts"

const { add, burst, fail, grow, say, status, steps, touch, wait, where } = Offer.tools

class Failing extends Schema.TaggedError<Failing>()("Failing", {}) {
  override get message(): string {
    return Offer.failure
  }
}

const plain = { parameters: Tool.EmptyParams, success: Schema.String }

const Tools = Toolkit.make(
  Tool.make(add.name, {
    description: add.description,
    parameters: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
    success: Schema.Struct({ sum: Schema.Finite })
  }),
  Tool.make(fail.name, { ...plain, description: fail.description, failure: Failing }),
  Tool.make(steps.name, { ...plain, description: steps.description, dependencies: [McpSchema.McpRequestContext] }),
  Tool.make(burst.name, { ...plain, description: burst.description, dependencies: [McpSchema.McpRequestContext] }),
  Tool.make(say.name, { ...plain, description: say.description }),
  Tool.make(wait.name, { ...plain, description: wait.description }),
  Tool.make(status.name, {
    description: status.description,
    parameters: Tool.EmptyParams,
    success: Schema.Struct({ waiting: Schema.Int, cancelled: Schema.Int })
  }),
  Tool.make(grow.name, { ...plain, description: grow.description }),
  Tool.make(touch.name, { ...plain, description: touch.description }),
  Tool.make(where.name, {
    description: where.description,
    parameters: Tool.EmptyParams,
    success: Schema.Struct({ cwd: Schema.String, word: Schema.String })
  })
)

/** Registrations stay for good here, so that there is another tool each time. */
let grown = 0

const another = () => {
  const name = `${Offer.late.name}-${++grown}`
  const kit = Toolkit.make(Tool.make(name, { ...plain, description: Offer.late.description }))
  const handler = kit.toLayer({ [name]: () => Effect.succeed(Offer.done) })
  return McpServer.toolkit(kit).pipe(Layer.provide(handler))
}

const reporting = Effect.fnUntraced(function*(server: McpServer.McpServer["Service"], moment: number) {
  const request = yield* McpSchema.McpRequestContext
  const progressToken = request.requestMetadata?.["progressToken"]
  if (typeof progressToken !== "string" && typeof progressToken !== "number") return Offer.done
  for (const progress of Offer.steps) {
    yield* server.notifications["notifications/progress"]({ progressToken, progress, total: 3 })
    if (moment > 0) yield* Effect.sleep(moment)
  }
  return Offer.done
})

const handlers = Effect.map(McpServer.McpServer, (server) => ({
  [add.name]: ({ a, b }: { readonly a: number; readonly b: number }) => Effect.succeed({ sum: a + b }),
  [fail.name]: () => Effect.fail(new Failing()),
  [steps.name]: () => reporting(server, Offer.moment),
  [burst.name]: () => reporting(server, 0),
  [say.name]: () =>
    Effect.as(server.notifications["notifications/message"]({ level: "info", data: Offer.said }), Offer.done),
  [wait.name]: () => Effect.promise(Offer.waitFor),
  [status.name]: () => Effect.sync(Offer.status),
  [grow.name]: () =>
    Layer.build(another()).pipe(
      Effect.provideService(McpServer.McpServer, server),
      Effect.scoped,
      Effect.as(Offer.done)
    ),
  [touch.name]: () =>
    Effect.as(server.notifications["notifications/resources/updated"]({ uri: Offer.motd.uri }), Offer.done),
  [where.name]: () => Effect.sync(Offer.where)
}))

const Who = McpSchema.param("name", Schema.String)

const registrations = Layer.mergeAll(
  McpServer.toolkit(Tools).pipe(Layer.provide(Tools.toLayer(handlers))),
  McpServer.resource({
    uri: Offer.motd.uri,
    name: Offer.motd.name,
    mimeType: Offer.motd.mimeType,
    content: Effect.succeed(Offer.motd.text)
  }),
  McpServer.resource`memo://note/${Who}`({
    name: Offer.note.name,
    mimeType: Offer.note.mimeType,
    content: (_uri, name) => Effect.succeed(Offer.noteText(name)),
    completion: { name: (typed: string) => Effect.succeed(Offer.complete(typed)) }
  }),
  McpServer.prompt({
    name: Offer.greet.name,
    description: Offer.greet.description,
    parameters: { who: Schema.String },
    content: ({ who }) => Effect.succeed(Offer.greeting(who)),
    completion: { who: (typed: string) => Effect.succeed(Offer.complete(typed)) }
  })
)

const v = McpProtocol
const protocols = [v.v2026_07_28, v.v2025_11_25, v.v2025_06_18, v.v2025_03_26, v.v2024_11_05] as const

const options = { ...Offer.info, protocols, registrations, allowSessionTermination: true }

/** The same for each revision alone. */
const alone = {
  "2026-07-28": { ...options, protocols: [v.v2026_07_28] as const },
  "2025-11-25": { ...options, protocols: [v.v2025_11_25] as const },
  "2025-06-18": { ...options, protocols: [v.v2025_06_18] as const },
  "2025-03-26": { ...options, protocols: [v.v2025_03_26] as const },
  "2024-11-05": { ...options, protocols: [v.v2024_11_05] as const }
}

// Two endpoints of one layer graph would share their state.
const Routes = Layer.mergeAll(
  McpServer.layerHttp({ ...options, path: "/mcp" }),
  Layer.fresh(McpServer.layerHttp({ ...alone["2026-07-28"], path: "/2026-07-28" })),
  Layer.fresh(McpServer.layerHttp({ ...alone["2025-11-25"], path: "/2025-11-25" })),
  Layer.fresh(McpServer.layerHttp({ ...alone["2025-06-18"], path: "/2025-06-18" })),
  Layer.fresh(McpServer.layerHttp({ ...alone["2025-03-26"], path: "/2025-03-26" })),
  Layer.fresh(McpServer.layerHttp({ ...alone["2024-11-05"], path: "/2024-11-05" }))
)

const Listening = Layer.effectDiscard(Effect.map(HttpServer.HttpServer, ({ address }) => {
  if ("port" in address) listening(address.port)
}))

const Http = HttpRouter.serve(Routes, {
  disableListenLog: true,
  disableLogger: true
}).pipe(Layer.merge(Listening), Layer.provide(LoopbackServer.layer()))

const stdio = () => {
  switch (revision) {
    case "2026-07-28":
      return McpServer.layerStdio(alone["2026-07-28"])
    case "2025-11-25":
      return McpServer.layerStdio(alone["2025-11-25"])
    case "2025-06-18":
      return McpServer.layerStdio(alone["2025-06-18"])
    case "2025-03-26":
      return McpServer.layerStdio(alone["2025-03-26"])
    case "2024-11-05":
      return McpServer.layerStdio(alone["2024-11-05"])
    default:
      return McpServer.layerStdio(options)
  }
}

const program = transport === "http"
  ? Effect.raceFirst(Layer.launch(Http), Effect.promise(inputEnded))
  : Layer.launch(Layer.provide(stdio(), NodeStdio.layer))

NodeRuntime.runMain(Effect.provideService(program, Logger.LogToStderr, true))
