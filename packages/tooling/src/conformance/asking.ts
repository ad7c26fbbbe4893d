/** The tools and the prompt of the conformance suite that ask the client. */
import { Prompt, Sampling, Tool } from "@mcpfx/schema"
import { Input, McpServer } from "@mcpfx/server"
import { RequestContext } from "@mcpfx/session"
import { Effect, Layer, Schema } from "effect"

const question = (text: string): Sampling.CreateParams => ({
  messages: [{ role: "user", content: { type: "text", text } }],
  maxTokens: 100
})

/** Ours have defaults only where the field may be left out. */
const optional = <A extends string | number | boolean>(schema: Schema.Codec<A>, value: A) =>
  Schema.optionalKey(schema.annotate({ default: value }))

const Named = Schema.Struct({ name: Schema.String })
const Ok = Schema.Struct({ ok: Schema.Boolean })

const askName = Input.elicit("What is your name?", Named, { key: "user_name" })
const askCapital = Input.sample(question("What is the capital of France?"), { key: "capital_question" })

/** Asks one yes or no. */
const confirming = (key: string) => Effect.as(Input.elicit("Please confirm", Ok, { key }), "state-ok")

const sampling = McpServer.tool(
  Tool.make("test_sampling", {
    description: "Asks the client's model",
    input: { prompt: Schema.String },
    asks: ["sampling"]
  }),
  ({ prompt }) => Effect.map(Input.sample(question(prompt)), (answer) => `LLM response: ${Sampling.text(answer)}`)
)

const elicitation = McpServer.tool(
  Tool.make("test_elicitation", {
    description: "Asks the user for a name and an address",
    input: { message: Schema.String },
    asks: ["elicitation.form"]
  }),
  ({ message }) =>
    Effect.map(
      Input.elicit(message, Schema.Struct({ username: Schema.String, email: Schema.String })),
      (user) => `User response: ${JSON.stringify(user)}`
    )
)

const defaults = McpServer.tool(
  Tool.make("test_elicitation_sep1034_defaults", {
    description: "Shows a form with a default of each kind",
    asks: ["elicitation.form"]
  }),
  () =>
    Effect.map(
      Input.elicit(
        "Please review and update the form fields with defaults",
        Schema.Struct({
          name: optional(Schema.String, "John Doe"),
          age: optional(Schema.Int, 30),
          score: optional(Schema.Finite, 95.5),
          status: optional(Schema.Literals(["active", "inactive", "pending"]), "active"),
          verified: optional(Schema.Boolean, true)
        })
      ),
      (form) => `Elicitation completed: ${JSON.stringify(form)}`
    )
)

const values = ["option1", "option2", "option3"] as const
const titles = { value1: "First Option", value2: "Second Option", value3: "Third Option" }

const enums = McpServer.tool(
  Tool.make("test_elicitation_sep1330_enums", {
    description: "Shows a form with a choice of each kind",
    asks: ["elicitation.form"]
  }),
  () =>
    Effect.map(
      Input.elicit(
        "Please select options",
        Schema.Struct({
          untitledSingle: Schema.optionalKey(Schema.Literals(values)),
          titledSingle: Schema.optionalKey(Input.choices(titles)),
          legacyEnum: Schema.optionalKey(
            Input.choices({ opt1: "Option One", opt2: "Option Two", opt3: "Option Three" }, { legacy: true })
          ),
          untitledMulti: Schema.optionalKey(Schema.Array(Schema.Literals(values))),
          titledMulti: Schema.optionalKey(Schema.Array(Input.choices(titles)))
        })
      ),
      (form) => `Elicitation completed: ${JSON.stringify(form)}`
    )
)

const name = McpServer.tool(
  Tool.make("test_input_required_result_elicitation", {
    description: "Asks for a name",
    asks: ["elicitation.form"]
  }),
  () => Effect.map(askName, ({ name }) => `Hello, ${name}!`)
)

const capital = McpServer.tool(
  Tool.make("test_input_required_result_sampling", { description: "Asks the model", asks: ["sampling"] }),
  () => Effect.map(askCapital, Sampling.text)
)

const directories = McpServer.tool(
  Tool.make("test_input_required_result_list_roots", { description: "Asks for the roots", asks: ["roots"] }),
  () => Effect.map(Input.rootsWith({ key: "client_roots" }), (roots) => roots.map(({ uri }) => uri).join(", "))
)

const state = McpServer.tool(
  Tool.make("test_input_required_result_request_state", {
    description: "Asks with a state",
    asks: ["elicitation.form"]
  }),
  () => confirming("confirm")
)

const tampered = McpServer.tool(
  Tool.make("test_input_required_result_tampered_state", {
    description: "Asks with a state that must come back as it was",
    asks: ["elicitation.form"]
  }),
  () => confirming("confirm")
)

const several = McpServer.tool(
  Tool.make("test_input_required_result_multiple_inputs", {
    description: "Asks three things at once",
    asks: ["elicitation.form", "sampling", "roots"]
  }),
  () =>
    Effect.map(
      Input.all({
        user: askName,
        greeting: Input.sample(question("Write a greeting"), { key: "greeting" }),
        roots: Input.rootsWith({ key: "client_roots" })
      }),
      ({ greeting, roots, user }) => `${user.name}: ${Sampling.text(greeting)} (${roots.length} roots)`
    )
)

const rounds = McpServer.tool(
  Tool.make("test_input_required_result_multi_round", {
    description: "Asks twice, the second question after the first answer",
    asks: ["elicitation.form"]
  }),
  () =>
    Effect.gen(function*() {
      const { name } = yield* Input.elicit("Step 1: What is your name?", Named, { key: "step1" })
      const Color = Schema.Struct({ color: Schema.String })
      const { color } = yield* Input.elicit("Step 2: What is your favorite color?", Color, { key: "step2" })
      return `${name} likes ${color}`
    })
)

const capabilities = McpServer.tool(
  Tool.make("test_input_required_result_capabilities", { description: "Asks what the client can be asked" }),
  () =>
    Effect.gen(function*() {
      const { clientCapabilities } = yield* RequestContext.RequestContext
      if (clientCapabilities.elicitation !== undefined) return (yield* askName).name
      return clientCapabilities.sampling === undefined ? "there is nothing to ask" : Sampling.text(yield* askCapital)
    })
)

const streaming = McpServer.tool(
  Tool.make("test_streaming_elicitation", {
    description: "Asks, and sends no request while it streams",
    asks: ["elicitation.form"]
  }),
  () => Effect.map(askName, ({ name }) => `Hello, ${name}!`)
)

const prompt = McpServer.prompt(
  Prompt.make("test_input_required_result_prompt", { description: "Asks for its context" }),
  () =>
    Effect.map(
      Input.elicit("What context should the prompt use?", Schema.Struct({ context: Schema.String }), {
        key: "user_context"
      }),
      ({ context }) => `Use this context: ${context}`
    )
)

/** All of them. */
export const layer = Layer.mergeAll(
  sampling,
  elicitation,
  defaults,
  enums,
  name,
  capital,
  directories,
  state,
  tampered,
  several,
  rounds,
  capabilities,
  streaming,
  prompt
)
