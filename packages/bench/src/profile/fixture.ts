/** What is profiled: a server with a tool of each kind, and the parts it is made of. */
import * as Resource from "@mcpfx/schema/Resource"
import * as Tool from "@mcpfx/schema/Tool"
import * as ChangeBus from "@mcpfx/server/ChangeBus"
import * as Dispatcher from "@mcpfx/server/Dispatcher"
import * as Input from "@mcpfx/server/Input"
import * as McpServer from "@mcpfx/server/McpServer"
import * as Registry from "@mcpfx/server/Registry"
import type { DuplicateEntry, InvalidOptions } from "@mcpfx/server/ServerError"
import * as ServerLimits from "@mcpfx/server/ServerLimits"
import * as Progress from "@mcpfx/session/Progress"
import { Endpoint } from "@mcpfx/transport/Endpoint"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { descriptions, steps } from "../tools.ts"
import { settingsOf } from "./internals.ts"

export const Add = Tool.make("add", { description: descriptions.add, input: { a: Schema.Finite, b: Schema.Finite } })
const Steps = Tool.make("progress", { description: descriptions.progress })
const Sleep = Tool.make("sleep", { description: "Waits for a moment" })
const Confirm = Tool.make("confirm", { description: "Asks first", asks: ["elicitation.form"] })
export const Text = Resource.make("file:///text", { name: "text", mimeType: "text/plain" })
export const resourceText = "x".repeat(1024)

export const sum = ({ a, b }: { readonly a: number; readonly b: number }): Effect.Effect<string> =>
  Effect.succeed(String(a + b))

const filler = (index: number) =>
  McpServer.tool(
    Tool.make(`search_archive_${String(index).padStart(3, "0")}`, {
      description: descriptions.filler,
      input: { query: Schema.String, limit: Schema.Int }
    }),
    ({ query }) => Effect.succeed(query)
  )

export const adding = McpServer.tool(Add, sum)

export const registrations = Layer.mergeAll(
  adding,
  McpServer.tool(
    Steps,
    Effect.fnUntraced(function*() {
      for (const progress of steps) yield* Progress.report({ progress, total: 3 })
      return "done"
    })
  ),
  McpServer.tool(Sleep, () => Effect.as(Effect.sleep("1 millis"), "slept")),
  McpServer.tool(Confirm, () =>
    Effect.map(
      Input.elicit("Sure?", Schema.Struct({ sure: Schema.Boolean })),
      ({ sure }) => String(sure)
    )),
  McpServer.resource(Text, Effect.succeed(resourceText)),
  ...Array.from({ length: 99 }, (_, index) => filler(index))
)

export const options: McpServer.Options = { name: "profile", version: "1.0.0", pageSize: 1000 }

/** The endpoint of a server, for as long as the scope is open. */
export const endpointOf = <A, E>(
  registered: Layer.Layer<A, E, McpServer.Provided>,
  settings: McpServer.Options = options
): Effect.Effect<Endpoint["Service"], E | InvalidOptions, Scope.Scope> =>
  Effect.map(Layer.build(McpServer.layer(registered, settings)), (context) => Context.get(context, Endpoint))

/** The parts that an endpoint is made of. */
export interface Parts {
  readonly registry: Registry.Registry["Service"]
  readonly dispatcher: Dispatcher.Dispatcher["Service"]
}

const shared = Layer.provideMerge(Registry.layer, Layer.merge(ChangeBus.layerMemory, SecureRandom.layerWebCrypto))

export const parts: Effect.Effect<Parts, InvalidOptions | DuplicateEntry, Scope.Scope> = Effect.gen(function*() {
  const context = yield* Layer.build(Layer.provideMerge(registrations, shared))
  const settings = yield* Effect.fromResult(settingsOf(options, yield* ServerLimits.ServerLimits))
  const dispatcher = yield* Effect.provideContext(Dispatcher.make(settings), context)
  return { registry: Context.get(context, Registry.Registry), dispatcher }
})
