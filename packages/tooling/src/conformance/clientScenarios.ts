/** What the client does in each scenario of the conformance suite, by its name. */
import { ClientSkills, McpClient, type McpClientError } from "@mcpfx/client"
import { Effect, Schema } from "effect"

type Failure = McpClientError.McpClientError | ClientSkills.SkillUnverified | Schema.SchemaError
type Scenario = Effect.Effect<unknown, Failure, McpClient.McpClient>

const withClient = <A, E>(use: (client: McpClient.McpClient["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(McpClient.McpClient, use)

const listTools = withClient((client) => client.tools)

const addNumbers = withClient((client) => Effect.andThen(client.tools, client.callTool("add_numbers", { a: 5, b: 3 })))

const everyMethod = withClient((client) =>
  Effect.gen(function*() {
    for (const { name } of yield* client.tools) yield* Effect.ignore(client.callTool(name, {}))
    for (const { uri } of yield* client.resources) yield* Effect.ignore(client.readResource(uri))
    for (const { name } of yield* client.prompts) yield* Effect.ignore(client.getPrompt(name))
  })
)

const Calls = Schema.fromJsonString(Schema.Struct({
  toolCalls: Schema.Array(Schema.Struct({
    name: Schema.String,
    arguments: Schema.Record(Schema.String, Schema.Unknown)
  }))
}))

const customHeaders = withClient((client) =>
  Effect.gen(function*() {
    const { toolCalls } = yield* Schema.decodeUnknownEffect(Calls)(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}")
    yield* client.tools
    for (const call of toolCalls) yield* client.callTool(call.name, call.arguments)
  })
)

const callEveryUsableTool = withClient((client) =>
  Effect.gen(function*() {
    for (const { name } of yield* client.tools) yield* client.callTool(name, {})
  })
)

const echoSchema = withClient((client) =>
  Effect.gen(function*() {
    const tools = yield* client.tools
    const tool = tools.find(({ name }) => name === "json_schema_2020_12_tool")
    yield* client.callTool("json_schema_echo", { schema: tool?.inputSchema })
  })
)

/** Loads the first skill and, if it is what its entry says, a file of it. */
const loadSkill = Effect.gen(function*() {
  const [skill] = yield* ClientSkills.list()
  if (skill === undefined) return
  yield* ClientSkills.load(skill)
  yield* ClientSkills.read(skill, "references/FORMS.md")
})

/** Calls what asks, and calls something else in between. */
const rounds = withClient((client) =>
  Effect.gen(function*() {
    for (const name of ["test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_no_result_type"]) {
      yield* Effect.all([client.callTool(name), client.callTool("test_mrtr_unrelated")], { concurrency: "unbounded" })
    }
  })
)

/** What every scenario of authorization wants once the client is logged in. */
const useTool = withClient((client) => Effect.andThen(client.tools, client.callTool("test-tool", {})))

const scenarios: Readonly<Record<string, Scenario | undefined>> = {
  "initialize": listTools,
  "tools_call": addNumbers,
  "request-metadata": listTools,
  "http-standard-headers": everyMethod,
  "http-custom-headers": customHeaders,
  "http-invalid-tool-headers": callEveryUsableTool,
  "elicitation-sep1034-client-defaults": withClient((client) => client.callTool("test_client_elicitation_defaults")),
  "sep-2322-client-request-state": rounds,
  "json-schema-ref-no-deref": listTools,
  "sse-retry": withClient((client) => Effect.andThen(client.tools, client.callTool("test_reconnection", {}))),
  "json-schema-2020-12-preservation": echoSchema,
  "sep-2640-client-no-prefetch": ClientSkills.list(),
  "sep-2640-client-verify-digest": loadSkill,
  "sep-2640-client-verify-size": loadSkill,
  "sep-2640-client-verify-frontmatter": loadSkill
}

/** The work of a scenario. */
export const workOf = (scenario: string): Scenario | undefined =>
  scenario.startsWith("auth/") ? useTool : scenarios[scenario]
