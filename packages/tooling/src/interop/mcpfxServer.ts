/**
 * The offer, made with mcpfx. Over HTTP `/mcp` serves every revision, and `/<revision>` that revision alone; beside them are
 * the two endpoints of HTTP+SSE, the stream at `/sse` and `/<revision>/sse`.
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { NodeListener } from "@mcpfx/node"
import { Revisions, Sampling, Tool } from "@mcpfx/schema"
import { Input, McpServer, Registry } from "@mcpfx/server"
import { Progress } from "@mcpfx/session"
import { Effect, Exit, Layer, Schema, Scope } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import * as LoopbackServer from "../loopbackServer.ts"
import * as Contract from "./contract.ts"
import * as Offer from "./offer.ts"
import { behindListener, inputEnded, listening, revision, transport } from "./start.ts"

const reporting = Effect.fnUntraced(function*(moment: number) {
  for (const progress of Offer.steps) {
    yield* Progress.report({ progress, total: 3 })
    if (moment > 0) yield* Effect.sleep(moment)
  }
  return Offer.done
})

const Waiting = McpServer.tool(
  Contract.Wait,
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
  return McpServer.tool(Contract.Grow, () =>
    Effect.gen(function*() {
      if (late !== undefined) {
        const closing = late
        late = undefined
        yield* Scope.close(closing, Exit.void)
        return Offer.done
      }
      late = yield* Scope.fork(owner)
      const added = McpServer.tool(Contract.Late, () => Effect.succeed(Offer.done))
      const registry = yield* Registry.Registry
      yield* Layer.buildWithScope(Layer.fresh(added), late).pipe(
        Effect.provideService(Registry.Registry, registry),
        Effect.orDie
      )
      return Offer.done
    }))
}))

const askName = (message: string) =>
  Input.elicit(message, Schema.Struct({ name: Schema.String.annotate({ title: "Name" }) }))

const Asking = Layer.mergeAll(
  McpServer.tool(Contract.AskName, () => Effect.map(askName(Offer.whatName), ({ name }) => Offer.hello(name))),
  McpServer.tool(
    Contract.AskAgain,
    () =>
      askName(Offer.whatSecret).pipe(
        Effect.map(({ name }) => name),
        Effect.catchTag("Declined", () => Effect.succeed(Offer.declined))
      )
  ),
  McpServer.tool(Contract.AskModel, () => Effect.map(Input.sample(Offer.question), Sampling.text)),
  McpServer.tool(Contract.AskRoots, () => Effect.map(Input.roots, (roots) => roots.map(({ uri }) => uri).join(" ")))
)

const Registrations = Layer.mergeAll(
  Asking,
  McpServer.tool(Contract.Add, ({ a, b }) => Effect.succeed({ sum: a + b })),
  McpServer.tool(Contract.Fail, () => Effect.succeed(Tool.result({ isError: true, content: Offer.failure }))),
  McpServer.tool(Contract.Steps, () => reporting(Offer.moment)),
  McpServer.tool(Contract.Burst, () => reporting(0)),
  McpServer.tool(Contract.Say, () => Effect.as(McpServer.log("info", Offer.said), Offer.done)),
  Waiting,
  McpServer.tool(Contract.Status, () => Effect.sync(Offer.status)),
  Growing,
  McpServer.tool(Contract.Touch, () => Effect.as(McpServer.resourceUpdated(Offer.motd.uri), Offer.done)),
  McpServer.tool(Contract.Where, () => Effect.sync(Offer.where)),
  McpServer.resource(Contract.Motd, Offer.motd.text),
  McpServer.template(Contract.Note, ({ name }) => Effect.succeed(Offer.noteText(name)), {
    complete: { name: (typed: string) => Effect.succeed(Offer.complete(typed)) }
  }),
  McpServer.prompt(Contract.Greet, ({ who }) => Effect.succeed(Offer.greeting(who)), {
    complete: { who: (typed: string) => Effect.succeed(Offer.complete(typed)) }
  })
)

const told = Revisions.all.filter(({ version }) => version === revision).map(({ version }) => version)

const Routes = Layer.mergeAll(
  McpServer.layerHttp(Registrations, { ...Offer.info, path: "/mcp", sse: true }),
  ...Revisions.all.map(({ era, version }) =>
    McpServer.layerHttp(Registrations, {
      ...Offer.info,
      path: `/${version}`,
      revisions: [version],
      sse: era === "legacy" && { path: `/${version}/sse`, messages: `/${version}/messages` }
    })
  )
)

const Listening = Layer.effectDiscard(Effect.map(HttpServer.HttpServer, ({ address }) => {
  if ("port" in address) listening(address.port)
}))

const Usual = HttpRouter.serve(Routes, { disableListenLog: true, disableLogger: true }).pipe(
  Layer.provideMerge(LoopbackServer.layer())
)

const Http = Layer.provide(
  Listening,
  McpServer.drainFirst(behindListener ? Layer.orDie(NodeListener.layer(Routes)) : Layer.orDie(Usual))
)

if (transport === "http") {
  NodeRuntime.runMain(Effect.raceFirst(Layer.launch(Http), Effect.promise(inputEnded)))
} else {
  McpServer.runStdio(Registrations, { ...Offer.info, ...(told.length === 0 ? {} : { revisions: told }) }).pipe(
    Effect.provide(NodeServices.layer),
    NodeRuntime.runMain
  )
}
