/** The client under test: the suite calls it with the URL of its mock server as the last argument. */
import { OAuthClient } from "@mcpfx/auth"
import { ClientElicitation, McpClient, McpClientError } from "@mcpfx/client"
import { Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { layerBrowser } from "./authBrowser.ts"
import { loginFor } from "./authGrants.ts"
import { workOf } from "./clientScenarios.ts"

const url = process.argv.at(-1) ?? ""
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "initialize"
const revision = process.env["MCP_CONFORMANCE_PROTOCOL_VERSION"]

/** The suite names the wire; older suites name none and mean the stateful one. */
const revisions = revision === "2026-07-28"
  ? ["2026-07-28"] as const
  : ["2025-11-25", "2025-06-18", "2025-03-26"] as const

const run = workOf(scenario)

/** Takes what a form starts with; answers what has no such value with yes. */
const Forms = ClientElicitation.layerForm(({ requestedSchema }) =>
  Effect.succeed(ClientElicitation.accept("confirmed" in requestedSchema.properties ? { confirmed: true } : {}))
)

const Logins = Layer.unwrap(Effect.map(loginFor(scenario), (login) => OAuthClient.layer({ url, ...login })))

const Http = scenario.startsWith("auth/")
  ? Logins.pipe(Layer.provide(layerBrowser), Layer.provide(FetchHttpClient.layer))
  : FetchHttpClient.layer

const main: Effect.Effect<unknown, unknown> = run === undefined
  ? Effect.fail(`no such scenario: ${scenario}`)
  : Effect.scoped(run).pipe(
    Effect.provide(
      McpClient.layerHttp({ url, revisions, info: { name: "mcpfx-conformance-client", version: "1.0.0" } }).pipe(
        Layer.provide(Forms),
        Layer.provide(Http)
      )
    )
  )

Effect.runPromise(main).then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error instanceof McpClientError.McpClientError ? error.message : error)
    process.exit(1)
  }
)
