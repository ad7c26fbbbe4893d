/** What a client has to be able to do, whatever the run time, the revision and the transport. */
import { McpClient, type McpClientError } from "@mcpfx/client"
import { Effect, Fiber, type Layer } from "effect"
import { type Case, eventually, same } from "./cases.ts"
import { Add, Motd, type Offers, Review, User } from "./offers.ts"

type Client = McpClient.McpClient["Service"]
type Failure = McpClientError.McpClientError | Error

/** The first content of a result that is a text. */
const textOf = (contents: ReadonlyArray<object>): unknown => {
  const first = contents[0]
  return first !== undefined && "text" in first ? first.text : undefined
}

const steps: Readonly<Record<string, (client: Client) => Effect.Effect<void, Failure>>> = {
  "lists": (client) =>
    Effect.gen(function*() {
      const [tools, resources, templates, prompts] = yield* Effect.all([
        client.tools,
        client.resources,
        client.resourceTemplates,
        client.prompts
      ])
      yield* same("the list of tools", tools.map(({ name }) => name), ["add", "count", "wait"])
      yield* same("the list of resources", resources.map(({ uri }) => uri), [Motd.uri])
      yield* same("the list of templates", templates.map(({ name }) => name), ["user"])
      yield* same("the list of prompts", prompts.map(({ name }) => name), ["review"])
    }),
  "calls a tool by its contract": (client) =>
    Effect.flatMap(client.call(Add, { a: 20, b: 22 }), (result) => same("the sum", result, { sum: 42 })),
  "is refused what does not fit": (client) =>
    Effect.flatMap(client.callTool("add", { a: "x" }), ({ isError }) => same("isError", isError, true)).pipe(
      Effect.catch((error) => same("the reason", "reason" in error ? error.reason._tag : error, "Refused"))
    ),
  "reads a resource and a template": (client) =>
    Effect.gen(function*() {
      yield* same("the resource", textOf((yield* client.read(Motd)).contents), "Be kind.")
      yield* same("the member", textOf((yield* client.read(User, { id: 7 })).contents), "user 7")
    }),
  "gets a prompt": (client) =>
    Effect.flatMap(
      client.prompt(Review, { language: "Ada" }),
      ({ messages }) => same("the prompt", textOf(messages.map(({ content }) => content)), "Review this Ada code.")
    ),
  "completes an argument": (client) =>
    Effect.flatMap(
      client.complete({ type: "ref/prompt", name: "review" }, { name: "language", value: "ty" }),
      ({ values }) => same("the values", values, ["typescript"])
    ),
  "hears of progress": (client) =>
    Effect.gen(function*() {
      const heard: Array<number> = []
      const onProgress = ({ progress }: { readonly progress: number }) => Effect.sync(() => void heard.push(progress))
      const { content } = yield* client.callTool("count", { to: 3 }, { onProgress })
      yield* same("the result", textOf(content), "counted to 3")
      yield* same("the progress", heard, [1, 2, 3])
    })
}

/** Interrupting a call stops its handler. */
const cancels = (waits: Offers["waits"]) => (client: Client): Effect.Effect<void, Failure> =>
  Effect.gen(function*() {
    const { begun, stopped } = waits
    const call = yield* Effect.forkChild(client.callTool("wait", {}))
    yield* eventually("the call", () => waits.begun > begun)
    yield* Fiber.interrupt(call)
    yield* eventually("the end of the handler", () => waits.stopped > stopped)
    yield* same("the sum of two calls", yield* client.call(Add, { a: 1, b: 1 }), { sum: 2 })
  })

/**
 * The cases of a client that `layer` connects; `label` names them. Cancelling is tried where `waits` is the state of the
 * server in this process.
 */
export const clientCases = <E>(
  label: string,
  layer: Layer.Layer<McpClient.McpClient, E>,
  waits?: Offers["waits"]
): Array<Case> => {
  const all = waits === undefined ? steps : { ...steps, "cancels a call": cancels(waits) }
  return Object.entries(all).map(([name, step]) => ({
    name: `${label}: ${name}`,
    run: Effect.scoped(Effect.provide(Effect.flatMap(McpClient.McpClient, step), layer))
  }))
}
