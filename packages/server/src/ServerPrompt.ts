/**
 * Prompts as layers: a contract and the messages it is filled with.
 *
 * @since 0.1.0
 */
import type { Role } from "@mcpfx/schema/Annotations"
import type * as Content from "@mcpfx/schema/Content"
import type { JsonObject } from "@mcpfx/schema/JsonRpc"
import type * as Prompt from "@mcpfx/schema/Prompt"
import * as PromptContract from "@mcpfx/schema/PromptContract"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { Only, Provider, Providers } from "./Completer.ts"
import type { HandlerServices, RequestServices } from "./Entry.ts"
import { capture } from "./internal/capture.ts"
import { completions } from "./internal/completions.ts"
import { registration, visibility } from "./internal/enclosing.ts"
import { running } from "./internal/handling.ts"
import { type Messages, Result } from "./internal/messages.ts"
import { getPrompt } from "./internal/promptGet.ts"
import { Registry } from "./Registry.ts"
import type { DuplicateEntry, InputError, Refusal } from "./ServerError.ts"

export { type Messages, Result } from "./internal/messages.ts"

/**
 * What a handler may fail with: a protocol error, or what asking the client can fail with, which becomes `-32602` with its
 * reason. Anything else is a defect.
 *
 * @category models
 * @since 0.1.0
 */
export type Failed = Refusal | InputError

/**
 * @category models
 * @since 0.1.0
 */
export interface Options<Names extends string, R = never> {
  /** Who sees the prompt; everybody by default. To others it does not exist. */
  readonly visible?: ((context: RequestContext["Service"]) => boolean) | undefined
  /** Scopes a caller must have been granted, beside those of the contract. */
  readonly scopes?: ReadonlyArray<string> | undefined
  /** Gives values for arguments, by name. */
  readonly complete?: Providers<Names, R> | undefined
}

const message = (role: Role) => (content: string | Content.Content): Prompt.Message => ({
  role,
  content: typeof content === "string" ? { type: "text", text: content } : content
})

/**
 * A message of the user.
 *
 * **Example** (A text)
 *
 * ```ts
 * import { ServerPrompt } from "@mcpfx/server"
 *
 * ServerPrompt.user("Hello") // => { role: "user", content: { type: "text", text: "Hello" } }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const user: (content: string | Content.Content) => Prompt.Message = message("user")

/**
 * A message of the assistant.
 *
 * @category constructors
 * @since 0.1.0
 */
export const assistant: (content: string | Content.Content) => Prompt.Message = message("assistant")

/**
 * A result with more than messages; the description of the contract is used where none is given.
 *
 * @category constructors
 * @since 0.1.0
 */
export const result = (options: {
  readonly messages: Messages
  readonly description?: string | undefined
  readonly meta?: JsonObject | undefined
}): Result => new Result(options.messages, options.description, options.meta)

/**
 * Offers a prompt while the layer is open. The handler gets decoded arguments and returns a text, which is a message of the
 * user, a message, several of either, or {@link result}. A missing argument refuses the request with its name (PRM-03).
 *
 * **Example** (A prompt whose argument completes)
 *
 * ```ts
 * import { Prompt } from "@mcpfx/schema"
 * import { ServerPrompt } from "@mcpfx/server"
 * import { Effect, Layer, Schema } from "effect"
 *
 * const Review = Prompt.make("review", { arguments: { language: Schema.String } })
 * const ReviewLive = ServerPrompt.prompt(
 *   Review,
 *   ({ language }) => Effect.succeed(`Review this ${language} code.`),
 *   { complete: { language: ["TypeScript", "Rust"] } }
 * )
 * Layer.isLayer(ReviewLive) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const prompt = <
  Name extends string,
  Arguments,
  R = never,
  Names extends string = never,
  R2 = never
>(
  contract: PromptContract.Contract<Name, Arguments>,
  handler: (args: NoInfer<Arguments>) => Effect.Effect<Messages | Result, Failed, R>,
  options?: Options<Names, R2> & Only<Names, keyof Arguments>
): Layer.Layer<never, DuplicateEntry, Registry | Exclude<R, HandlerServices> | Exclude<R2, RequestServices>> =>
  registration((enclosing) =>
    Effect.gen(function*() {
      const registry = yield* Registry
      const captured = yield* capture<R | R2>()
      const target = { kind: "prompt", name: contract.name } as const
      const complete: { readonly [name: string]: Provider<R2> | undefined } = options?.complete ?? {}
      yield* registry.register({
        kind: "prompt",
        name: contract.name,
        descriptor: PromptContract.toDescriptor(contract),
        visible: visibility(enclosing, target, options?.visible),
        asks: contract.asks,
        scopes: [...new Set([...contract.scopes, ...(options?.scopes ?? [])])],
        get: getPrompt(contract, enclosing, (args) => running(captured, handler(args))),
        completions: completions(complete, { target, contract, enclosing, captured })
      })
    })
  )
