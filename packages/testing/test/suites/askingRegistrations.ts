/** Handlers that ask, each written once and served on every revision. */
import { Prompt, Resource, Tool } from "@mcpfx/schema"
import { Input, McpServer, Step } from "@mcpfx/server"
import { Progress } from "@mcpfx/session"
import { Effect, Exit, Fiber, Layer, Schedule, Schema } from "effect"

const Name = Schema.Struct({ name: Schema.String })
/** The client answers by the message: "Bob" to a question, a refusal to what asks for one. */
const ask = (message = "Who?") => Effect.map(Input.elicit(message, Name), ({ name }) => name)

type Failure = Effect.Error<ReturnType<typeof ask>>

/** What handlers did that nobody should see them do; asked for by the suite. */
const events: Array<string> = []
const note = (event: string) => Effect.sync(() => void events.push(event))

const caught = ask().pipe(
  Effect.tapError(() => note("error")),
  Effect.catch(() => Effect.as(note("catch"), "caught")),
  Effect.catchCause(() => Effect.as(note("catchCause"), "caught")),
  Effect.exit,
  Effect.flatMap((exit) => Exit.isSuccess(exit) ? Effect.succeed(exit.value) : Effect.as(note("exit"), "exit")),
  Effect.retry(Schedule.recurs(3))
)

const twice = Effect.gen(function*() {
  const id = yield* Step.run("start", () => Effect.as(note("started"), "id"), Schema.String)
  yield* Progress.report({ progress: 1, total: 3 })
  const first = yield* ask("First?")
  yield* Progress.report({ progress: 2, total: 3 })
  const second = yield* ask("Second?")
  yield* Progress.report({ progress: 3, total: 3 })
  return `${id} ${first} ${second}`
})

const resources = Effect.gen(function*() {
  yield* Effect.acquireRelease(note("acquire"), () => note("release"))
  return yield* Effect.acquireUseRelease(note("open"), () => ask(), () => note("close"))
})

const all = Effect.map(
  Input.all({
    who: ask(),
    said: Input.sample({ messages: [{ role: "user", content: { type: "text", text: "q" } }], maxTokens: 5 }),
    roots: Input.roots
  }),
  ({ roots, said, who }) => `${who} ${said.model} ${roots.map(({ uri }) => uri).join()}`
)

const background = Effect.gen(function*() {
  const child = yield* Effect.forkChild(Effect.as(Effect.sleep(1), "child"))
  const scoped = yield* Effect.forkScoped(Effect.never)
  const name = yield* ask()
  yield* Fiber.interrupt(scoped)
  return `${name} ${yield* Fiber.join(child)}`
})

const handlers: { readonly [name: string]: Effect.Effect<string, Failure, Input.Services> } = {
  ask: ask(),
  caught,
  twice,
  all,
  declined: Effect.catchTag(ask("decline"), "Declined", () => Effect.succeed("they declined")),
  cancelled: Effect.catchTag(ask("cancel"), "Cancelled", () => Effect.succeed("they cancelled")),
  uncaught: ask("decline"),
  timeout: Effect.timeoutOrElse(ask(), { duration: "1 minute", orElse: () => Effect.succeed("late") }),
  race: Effect.race(ask(), Effect.never),
  parallel: Effect.map(Effect.all([ask("One?"), ask("Two?")], { concurrency: 2 }), (names) => names.join(" ")),
  child: Effect.flatMap(Effect.forkChild(ask()), Fiber.join),
  interrupted: Effect.onInterrupt(Input.onCancel(ask(), note("cancelled")), () => note("interrupted")),
  uninterruptible: Effect.uninterruptible(ask()),
  page: Effect.gen(function*() {
    const page = yield* Input.elicitUrl({ message: "Log in", url: "https://a.example/login" })
    yield* page.complete
    return "visited"
  }),
  rejected: Effect.catchTag(
    Effect.as(
      Input.sample({ messages: [{ role: "user", content: { type: "text", text: "reject" } }], maxTokens: 5 }),
      "said"
    ),
    "Declined",
    () => Effect.succeed("they rejected it")
  )
}

const Greeting = Prompt.make("greeting")
const Note = Resource.make("app://note", { name: "note" })

export const registrations = Layer.mergeAll(
  McpServer.tool(Tool.make("events"), () => Effect.sync(() => events.splice(0).join())),
  McpServer.tool(Tool.make("resources"), () => resources),
  McpServer.tool(Tool.make("background"), () => background),
  ...Object.entries(handlers).map(([name, handler]) => McpServer.tool(Tool.make(name), () => handler)),
  McpServer.prompt(Greeting, () => Effect.map(ask(), (name) => `Hello, ${name}.`)),
  McpServer.resource(Note, () => Effect.map(ask(), (name) => `For ${name}.`))
)

export const info = { name: "asking", version: "1.0.0" }
