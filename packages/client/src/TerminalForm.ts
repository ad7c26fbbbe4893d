/**
 * Forms and pages on the terminal: ready-made handlers for `ClientElicitation`, and a yes or no for `ModelSampling`.
 *
 * Loads `effect/cli`, which nothing else here does. What a server says is shown without control characters, so that it cannot
 * paint over what is around it. One question is on the terminal at a time; Ctrl-C turns away from it.
 *
 * @since 0.1.0
 */
import type * as Elicitation from "@mcpfx/schema/Elicitation"
import type { FormSchema } from "@mcpfx/schema/FormSchema"
import type * as McpError from "@mcpfx/schema/McpError"
import * as Sampling from "@mcpfx/schema/Sampling"
import * as JsonSchemaValidator from "@mcpfx/session/JsonSchemaValidator"
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import * as Terminal from "effect/Terminal"
import { AskContext, type AskServices } from "./AskContext.ts"
import * as ClientElicitation from "./ClientElicitation.ts"
import * as ClientSampling from "./ClientSampling.ts"
import type { Warning } from "./ElicitedUrl.ts"
import { completer, defaultsOf } from "./internal/formAnswer.ts"
import { line, plain } from "./internal/plainText.ts"
import * as Fields from "./internal/terminalFields.ts"

const turns = new WeakMap<Terminal.Terminal, Semaphore.Semaphore>()

/** One question at a time; who turns away gives `quit`. */
const asking = <A, E, R>(
  question: Effect.Effect<A, E | Terminal.QuitError, R | AskContext | Terminal.Terminal>,
  quit: Effect.Effect<A, E>
): Effect.Effect<A, E, R | AskContext | Prompt.Environment> =>
  Effect.flatMap(Terminal.Terminal, (terminal) => {
    const turn = turns.get(terminal) ?? Semaphore.makeUnsafe(1)
    turns.set(terminal, turn)
    const asked = Effect.catchIf(question, Terminal.isQuitError, () => quit)
    return turn.withPermits(1)(asked)
  })

/** Whose question it is, and what it says. */
const show = (...lines: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const { server: { info, target } } = yield* AskContext
    const terminal = yield* Terminal.Terminal
    const name = info === undefined ? "" : ` (${line(info.title ?? info.name)})`
    yield* Effect.orDie(terminal.display(`\n${line(target)}${name} asks:\n${lines.map(plain).join("\n")}\n`))
  })

const decide = <A>(message: string, choices: ReadonlyArray<readonly [title: string, value: A]>) =>
  Prompt.run(Prompt.Select({ message, choices: choices.map(([title, value]) => ({ title, value })) }))

/** What is wrong with one value, said as for a person. */
const problemOf = Effect.fnUntraced(function*(schema: FormSchema, name: string) {
  const property = schema.properties[name]
  if (property === undefined) return () => undefined
  const required = schema.required?.includes(name) === true
  const complete = yield* completer(yield* JsonSchemaValidator.JsonSchemaValidator, {
    type: "object",
    properties: { [name]: property },
    required: required ? [name] : []
  })
  return (value: Elicitation.Value | undefined) => {
    const verdict = complete(value === undefined ? {} : { [name]: value })
    return Result.isSuccess(verdict) ? undefined : verdict.failure.join("; ")
  }
})

const fill = Effect.fnUntraced(function*(schema: FormSchema, before: ClientElicitation.Content) {
  const content: Array<readonly [string, Elicitation.Value]> = []
  for (const [name, property] of Object.entries(schema.properties)) {
    const value = yield* Prompt.run(Fields.prompt({
      name,
      property,
      required: schema.required?.includes(name) === true,
      initial: Object.hasOwn(before, name) ? before[name] : undefined,
      problem: yield* Effect.orDie(problemOf(schema, name))
    }))
    if (value !== undefined) content.push([name, value])
  }
  return Object.fromEntries(content)
})

const shown = (content: ClientElicitation.Content): string =>
  Object.entries(content).map(([name, value]) => `  ${line(name)}: ${line(String(value))}`).join("\n")

/** Fills a form in, shows it, and lets it be changed before it goes off (ELI-08). */
const form = Effect.fnUntraced(function*({ message, requestedSchema }: Elicitation.FormParams) {
  yield* show(message)
  const first = yield* decide("Answer?", [["Yes", "fill"], ["No", "decline"], ["Not now", "cancel"]] as const)
  if (first !== "fill") return first === "decline" ? ClientElicitation.decline : ClientElicitation.cancel
  let content: ClientElicitation.Content = defaultsOf(requestedSchema)
  while (true) {
    content = yield* fill(requestedSchema, content)
    yield* show(shown(content))
    const then = yield* decide("Send this?", [["Send", "send"], ["Change", "change"], ["Decline", "decline"]] as const)
    if (then === "send") return ClientElicitation.accept(content)
    if (then === "decline") return ClientElicitation.decline
  }
})

/**
 * Shows forms on the terminal: who asks, the fields one by one, and all of them again before they are sent.
 *
 * **Example** (A client on the command line)
 *
 * ```ts
 * import { NodeServices } from "@effect/platform-node"
 * import { McpClient, TerminalForm } from "@mcpfx/client"
 * import { Layer } from "effect"
 *
 * const Live = McpClient.layerStdio({ command: ["node", "server.js"] }).pipe(
 *   Layer.provide(TerminalForm.layer),
 *   Layer.provide(NodeServices.layer)
 * )
 * Layer.isLayer(Live) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerForm: Layer.Layer<never, never, Prompt.Environment> = ClientElicitation.layerForm((params) =>
  asking(form(params), Effect.succeed(ClientElicitation.cancel))
)

const warnings: Readonly<Record<Warning, string>> = {
  insecure: "It is not encrypted: others can read and change it on its way.",
  punycode: "Its name is written in another script, and may only look like one you know.",
  userinfo: "It has a user name in front of the host, which is no part of the host.",
  address: "It has a number instead of a name.",
  local: "It is on this machine or in the local network.",
  port: "It is not on the usual port."
}

/**
 * Shows pages to visit on the terminal: the host apart, the whole address, and what is odd about it (ELI-14). A yes runs
 * `open` with the address; without it the user opens the page by hand.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerUrl = <R = never>(
  open: (href: string) => Effect.Effect<void, never, R> = () => Effect.void
): Layer.Layer<never, never, Prompt.Environment | Exclude<R, AskServices>> =>
  ClientElicitation.layerUrl(({ message, site }) =>
    asking(
      Effect.gen(function*() {
        yield* show(
          message,
          `  Site: ${site.host}`,
          `  Page: ${site.href}`,
          ...site.warnings.map((warning) => `  Careful: ${warnings[warning]}`)
        )
        const choices = [["No", "decline"], ["Yes, visit it", "visit"], ["Not now", "cancel"]] as const
        const answer = yield* decide(`Visit ${site.host}?`, choices)
        if (answer === "visit") yield* open(site.href)
        return answer === "visit"
          ? ClientElicitation.visit
          : answer === "decline"
          ? ClientElicitation.decline
          : ClientElicitation.cancel
      }),
      Effect.succeed<ClientElicitation.UrlAnswer>(ClientElicitation.cancel)
    )
  )

/**
 * Forms and pages; pages are opened by hand.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never, never, Prompt.Environment> = Layer.merge(layerForm, layerUrl())

/**
 * The consent of `ModelSampling` on the terminal: shows what the server asks of the model, and lets it go or not (SMP-01).
 *
 * @category consent
 * @since 0.1.0
 */
export const consent = (
  params: Sampling.CreateParams
): Effect.Effect<Sampling.CreateParams, McpError.UserRejected, AskContext | Prompt.Environment> =>
  asking(
    Effect.gen(function*() {
      yield* show(
        `Your model is to answer, with up to ${params.maxTokens} tokens:`,
        ...(params.systemPrompt === undefined ? [] : [`  system: ${params.systemPrompt}`]),
        ...params.messages.map((message) => `  ${message.role}: ${Sampling.blocks(message).map(summary).join(" ")}`)
      )
      const yes = yield* decide("Let it?", [["No", false], ["Yes", true]] as const)
      return yes ? params : yield* ClientSampling.reject
    }),
    ClientSampling.reject
  )

const summary = (block: Sampling.Block): string => {
  switch (block.type) {
    case "text":
      return block.text
    case "tool_use":
      return `[calls ${block.name} ${JSON.stringify(block.input)}]`
    case "tool_result":
      return `[result ${JSON.stringify(block.structuredContent ?? block.content)}]`
    default:
      return `[${block.type}]`
  }
}
