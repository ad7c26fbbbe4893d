/** The release server: tools that ask while they run, written once for all revisions. */
import { Sampling } from "@mcpfx/schema"
import { Input, McpServer, Step } from "@mcpfx/server"
import { Effect, Layer, Schema } from "effect"
import { Announce, Connect, Deploy, Summarize, Workspaces } from "./contract.ts"
import { Releases } from "./releases.ts"

const Target = Schema.Struct({
  env: Input.choices({ test: "Test", production: "Production" }).annotate({ default: "test" })
})
const Confirmation = Schema.Struct({ sure: Schema.Boolean.annotate({ title: "Yes, go on" }) })

/** Asks by a form, and then perhaps by another. What may happen once only is in a step. */
const DeployLive = McpServer.tool(Deploy, ({ service }) =>
  Effect.gen(function*() {
    const releases = yield* Releases
    const version = yield* Step.run("version", () => releases.next, Schema.String)
    const { env } = yield* Input.elicit(`Where shall ${service} ${version} go?`, Target)
    if (env === "production") {
      const { sure } = yield* Input.elicit(`${service} ${version} for everybody: are you sure?`, Confirmation)
      if (!sure) return { version, env: "nowhere" }
    }
    yield* Step.run(
      "deploy",
      ({ idempotencyKey }) => releases.deploy(version, env, idempotencyKey),
      Schema.Void
    )
    return { version, env }
  }))

/** Sends the user to a page: what is entered there never passes through the client. */
const ConnectLive = McpServer.tool(Connect, () =>
  Effect.gen(function*() {
    const visit = yield* Step.run("visit", () => Effect.sync(() => crypto.randomUUID()), Schema.String)
    const page = yield* Input.elicitUrl({
      message: "Log in to the code host",
      url: `https://releases.example.com/connect?visit=${visit}`
    })
    // Here a real server waits until its page has seen the user.
    yield* page.complete
    return { connected: true }
  }).pipe(Effect.catchTag("Declined", () => Effect.succeed({ connected: false }))))

const ask = (text: string) =>
  Input.sample({ messages: [{ role: "user", content: { type: "text", text } }], maxTokens: 200 })

/** Asks the client's model. */
const SummarizeLive = McpServer.tool(
  Summarize,
  ({ changes }) =>
    Effect.map(ask(`Put these changes into one sentence:\n- ${changes.join("\n- ")}`), (answer) => ({
      summary: Sampling.text(answer)
    }))
)

/** Asks where it may work. */
const WorkspacesLive = McpServer.tool(
  Workspaces,
  () => Effect.map(Input.roots, (roots) => ({ uris: roots.map(({ uri }) => uri) }))
)

/** Asks three things at once: one round on 2026-07-28. */
const AnnounceLive = McpServer.tool(Announce, ({ version }) =>
  Effect.gen(function*() {
    const { form, roots, text } = yield* Input.all({
      form: Input.elicit("Who is the announcement for?", Schema.Struct({ audience: Schema.String })),
      text: ask(`Announce version ${version} in one sentence.`),
      roots: Input.roots
    })
    return { announcement: `${form.audience}: ${Sampling.text(text)} (${roots[0]?.name ?? "no workspace"})` }
  }))

/** Everything the server offers; it needs {@link Releases}. */
export const Registrations = Layer.mergeAll(DeployLive, ConnectLive, SummarizeLive, WorkspacesLive, AnnounceLive)

/** How the server calls itself. */
export const info = { name: "releases", version: "1.0.0" }
