/**
 * What a test client answers when its server asks: a script instead of a person and a model.
 *
 * The answers of each kind are given in order, and each is given once. What a script has no answers for is not declared, so
 * that the server finds a client that cannot do it; an ask beyond the script fails.
 *
 * @since 0.1.0
 */
import * as ClientElicitation from "@mcpfx/client/ClientElicitation"
import * as ClientRoots from "@mcpfx/client/ClientRoots"
import * as ClientSampling from "@mcpfx/client/ClientSampling"
import type * as Elicitation from "@mcpfx/schema/Elicitation"
import type { UserRejected } from "@mcpfx/schema/McpError"
import type { Root } from "@mcpfx/schema/Roots"
import type * as Sampling from "@mcpfx/schema/Sampling"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Unexpected } from "./TestError.ts"

type Given<Asked, A, E = never> = (asked: Asked) => Effect.Effect<A, E>

/**
 * One answer, made by {@link form}, {@link page}, {@link model} or {@link roots}.
 *
 * @category models
 * @since 0.1.0
 */
export type Answer =
  | { readonly kind: "form"; readonly answer: Given<Elicitation.FormParams, ClientElicitation.FormAnswer> }
  | { readonly kind: "page"; readonly answer: Given<ClientElicitation.Page, ClientElicitation.UrlAnswer> }
  | { readonly kind: "model"; readonly answer: Given<Sampling.CreateParams, Sampling.CreateResult, UserRejected> }
  | { readonly kind: "roots"; readonly answer: Effect.Effect<ReadonlyArray<Root>> }

/**
 * What was asked.
 *
 * @category models
 * @since 0.1.0
 */
export type Asked =
  | { readonly kind: "form"; readonly params: Elicitation.FormParams }
  | { readonly kind: "page"; readonly params: ClientElicitation.Page }
  | { readonly kind: "model"; readonly params: Sampling.CreateParams }
  | { readonly kind: "roots" }

/**
 * What has become of the script.
 *
 * @category services
 * @since 0.1.0
 */
export class TestAnswers extends Context.Service<TestAnswers, {
  /** What was asked so far, in order. */
  readonly asked: () => ReadonlyArray<Asked>
  /** How many answers were not given yet. */
  readonly left: () => number
}>()("@mcpfx/testing/TestAnswers") {}

/**
 * Answers a form: with these fields, with `ClientElicitation.decline` or `cancel`, or by a function of the form.
 *
 * @category answers
 * @since 0.1.0
 */
export const form = (
  answer:
    | ClientElicitation.Content
    | ClientElicitation.Refusal
    | Given<Elicitation.FormParams, ClientElicitation.FormAnswer>
): Answer => ({
  kind: "form",
  answer: typeof answer === "function" ?
    answer :
    () => Effect.succeed(isRefusal(answer) ? answer : ClientElicitation.accept(answer))
})

const isRefusal = (
  answer: ClientElicitation.Content | ClientElicitation.Refusal
): answer is ClientElicitation.Refusal => answer === ClientElicitation.decline || answer === ClientElicitation.cancel

/**
 * Answers a page to visit, with `ClientElicitation.visit`, `decline` or `cancel`, or by a function of the page.
 *
 * @category answers
 * @since 0.1.0
 */
export const page = (
  answer: ClientElicitation.UrlAnswer | Given<ClientElicitation.Page, ClientElicitation.UrlAnswer>
): Answer => ({ kind: "page", answer: typeof answer === "function" ? answer : () => Effect.succeed(answer) })

/**
 * Answers for the model: with a text, a whole result, or by a function of the params, which may be `ClientSampling.reject`.
 *
 * @category answers
 * @since 0.1.0
 */
export const model = (
  answer: string | Sampling.CreateResult | Given<Sampling.CreateParams, Sampling.CreateResult, UserRejected>
): Answer => ({
  kind: "model",
  answer: typeof answer === "string"
    ? () => Effect.succeed(ClientSampling.text(answer, "test-model"))
    : typeof answer === "function"
    ? answer
    : () => Effect.succeed(answer)
})

/**
 * Answers for the roots.
 *
 * @category answers
 * @since 0.1.0
 */
export const roots = (...uris: ReadonlyArray<string>): Answer => ({
  kind: "roots",
  answer: Effect.succeed(uris.map((uri) => ({ uri })))
})

class Script {
  readonly asked: Array<Asked> = []
  private readonly answers: Array<Answer>

  constructor(answers: ReadonlyArray<Answer>) {
    this.answers = [...answers]
  }

  get left(): number {
    return this.answers.length
  }

  /** The next answer of a kind, which `pick` tells from the others. */
  next<A>(asked: Asked, pick: (answer: Answer) => A | undefined): A | undefined {
    this.asked.push(asked)
    for (const [index, answer] of this.answers.entries()) {
      const picked = pick(answer)
      if (picked === undefined) continue
      this.answers.splice(index, 1)
      return picked
    }
    return undefined
  }
}

const beyond = (asked: Asked) =>
  Effect.die(new Unexpected({ wanted: `no more asks of kind ${asked.kind}`, got: [asked] }))

/**
 * The handlers of a client that follows the script, to be provided to its layer.
 *
 * **Example** (A client that says its name once)
 *
 * ```ts
 * import { TestAnswers } from "@mcpfx/testing"
 * import { Layer } from "effect"
 *
 * const Answers = TestAnswers.layer([TestAnswers.form({ name: "Ada" }), TestAnswers.model("42")])
 * Layer.isLayer(Answers) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (answers: ReadonlyArray<Answer>): Layer.Layer<TestAnswers> =>
  Layer.unwrap(Effect.sync(() => {
    const script = new Script(answers)
    const kinds = new Set(answers.map(({ kind }) => kind))
    const service = Layer.succeed(TestAnswers, { asked: () => [...script.asked], left: () => script.left })

    const forms = ClientElicitation.layerForm((params) => {
      const asked: Asked = { kind: "form", params }
      return script.next(asked, (answer) => answer.kind === "form" ? answer.answer : undefined)?.(params) ??
        beyond(asked)
    })
    const pages = ClientElicitation.layerUrl((params) => {
      const asked: Asked = { kind: "page", params }
      return script.next(asked, (answer) => answer.kind === "page" ? answer.answer : undefined)?.(params) ??
        beyond(asked)
    })
    const models = ClientSampling.layer((params) => {
      const asked: Asked = { kind: "model", params }
      return script.next(asked, (answer) => answer.kind === "model" ? answer.answer : undefined)?.(params) ??
        beyond(asked)
    }, { tools: true, context: true })
    const lists = ClientRoots.layer(Effect.suspend(() => {
      const asked: Asked = { kind: "roots" }
      return script.next(asked, (answer) => answer.kind === "roots" ? answer.answer : undefined) ?? beyond(asked)
    }))

    return Layer.mergeAll(
      service,
      kinds.has("form") ? forms : Layer.empty,
      kinds.has("page") ? pages : Layer.empty,
      kinds.has("model") ? models : Layer.empty,
      kinds.has("roots") ? lists : Layer.empty
    )
  }))
