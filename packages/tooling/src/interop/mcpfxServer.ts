/** The offer, made with mcpfx. Over HTTP `/mcp` serves every revision, and `/<revision>` that revision alone. */
import { NodeHttpServer, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Revisions, Tool } from "@mcpfx/schema"
import { McpServer, Registry } from "@mcpfx/server"
import { Progress } from "@mcpfx/session"
import { Effect, Exit, Layer, Scope } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import { Add, Burst, Fail, Greet, Grow, Late, Motd, Note, Say, Status, Steps, Touch, Wait, Where } from "./contract.ts"
import * as Offer from "./offer.ts"
import { inputEnded, listening, revision, transport } from "./start.ts"

const reporting = Effect.fnUntraced(function*(moment: number) {
  for (const progress of Offer.steps) {
    yield* Progress.report({ progress, total: 3 })
    if (moment > 0) yield* Effect.sleep(moment)
  }
  return Offer.done
})

const Waiting = McpServer.tool(
  Wait,
  Effect.fnUntraced(function*() {
    Offer.waiting.now++
    yield* Progress.report({ progress: 1 })
    return yield* Effect.never
  }, (effect) =>
    Effect.onInterrupt(effect, () =>
      Effect.sync(() => {
        Offer.waiting.now--
        Offer.waiting.cancelled++
      })))
)

/** The registry of the endpoint holds the tool for as long as a scope of its own is open. */
const Growing = Layer.unwrap(Effect.gen(function*() {
  const owner = yield* Effect.scope
  let late: Scope.Closeable | undefined
  return McpServer.tool(Grow, () =>
    Effect.gen(function*() {
      if (late !== undefined) {
        const closing = late
        late = undefined
        yield* Scope.close(closing, Exit.void)
        return Offer.done
      }
      late = yield* Scope.fork(owner)
      const added = McpServer.tool(Late, () => Effect.succeed(Offer.done))
      const registry = yield* Registry.Registry
      yield* Layer.buildWithScope(Layer.fresh(added), late).pipe(
        Effect.provideService(Registry.Registry, registry),
        Effect.orDie
      )
      return Offer.done
    }))
}))

const Registrations = Layer.mergeAll(
  McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b })),
  McpServer.tool(Fail, () => Effect.succeed(Tool.result({ isError: true, content: Offer.failure }))),
  McpServer.tool(Steps, () => reporting(Offer.moment)),
  McpServer.tool(Burst, () => reporting(0)),
  McpServer.tool(Say, () => Effect.as(McpServer.log("info", Offer.said), Offer.done)),
  Waiting,
  McpServer.tool(Status, () => Effect.sync(Offer.status)),
  Growing,
  McpServer.tool(Touch, () => Effect.as(McpServer.resourceUpdated(Offer.motd.uri), Offer.done)),
  McpServer.tool(Where, () => Effect.sync(Offer.where)),
  McpServer.resource(Motd, Offer.motd.text),
  McpServer.template(Note, ({ name }) => Effect.succeed(Offer.noteText(name)), {
    complete: { name: (typed: string) => Effect.succeed(Offer.complete(typed)) }
  }),
  McpServer.prompt(Greet, ({ who }) => Effect.succeed(Offer.greeting(who)), {
    complete: { who: (typed: string) => Effect.succeed(Offer.complete(typed)) }
  })
)

const told = Revisions.all.filter(({ version }) => version === revision).map(({ version }) => version)

const Routes = Layer.mergeAll(
  McpServer.layerHttp(Registrations, { ...Offer.info, path: "/mcp" }),
  ...Revisions.all.map(({ version }) =>
    McpServer.layerHttp(Registrations, { ...Offer.info, path: `/${version}`, revisions: [version] })
  )
)

const Listening = Layer.effectDiscard(Effect.map(HttpServer.HttpServer, ({ address }) => {
  if ("port" in address) listening(address.port)
}))

const Http = McpServer.drainFirst(HttpRouter.serve(Routes, { disableListenLog: true, disableLogger: true })).pipe(
  Layer.merge(Listening),
  Layer.provide(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
)

if (transport === "http") {
  NodeRuntime.runMain(Effect.raceFirst(Layer.launch(Http), Effect.promise(inputEnded)))
} else {
  McpServer.runStdio(Registrations, { ...Offer.info, ...(told.length === 0 ? {} : { revisions: told }) }).pipe(
    Effect.provide(NodeServices.layer),
    NodeRuntime.runMain
  )
}
