/**
 * Answering what a server asks of the user: forms to fill in, and pages to visit.
 *
 * Handlers are layers beneath the client's. The mode a handler answers is declared, others are refused, on every revision.
 *
 * **Example** (A client that can show forms)
 *
 * ```ts
 * import { ClientElicitation, McpClient } from "@mcpfx/client"
 * import { Effect, Layer } from "effect"
 * import { FetchHttpClient } from "effect/http"
 *
 * const Forms = ClientElicitation.layerForm(({ message, requestedSchema }) =>
 *   Effect.succeed(
 *     message.startsWith("Deploy") && "confirm" in requestedSchema.properties
 *       ? ClientElicitation.accept({ confirm: true })
 *       : ClientElicitation.decline
 *   )
 * )
 *
 * const Live = McpClient.layerHttp({ url: "https://example.com/mcp" }).pipe(
 *   Layer.provide(Forms),
 *   Layer.provide(FetchHttpClient.layer)
 * )
 * Layer.isLayer(Live) // => true
 * ```
 *
 * @since 0.1.0
 */
import type * as Elicitation from "@mcpfx/schema/Elicitation"
import type { FormSchema } from "@mcpfx/schema/FormSchema"
import * as McpError from "@mcpfx/schema/McpError"
import * as Methods from "@mcpfx/schema/Methods"
import * as JsonSchemaValidator from "@mcpfx/session/JsonSchemaValidator"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { AskServices } from "./AskContext.ts"
import * as ClientHandlers from "./ClientHandlers.ts"
import * as ElicitedUrl from "./ElicitedUrl.ts"
import { capture } from "./internal/answering.ts"
import { completer, defaultsOf } from "./internal/formAnswer.ts"
import { UnfitAnswer } from "./McpClientError.ts"

/**
 * The fields of a form, by name.
 *
 * @category models
 * @since 0.1.0
 */
export type Content = Readonly<Record<string, Elicitation.Value>>

/**
 * The user was asked and said no, or turned away without an answer.
 *
 * @category models
 * @since 0.1.0
 */
export type Refusal = { readonly action: "decline" } | { readonly action: "cancel" }

/**
 * What became of a form.
 *
 * @category models
 * @since 0.1.0
 */
export type FormAnswer = { readonly action: "accept"; readonly content: Content } | Refusal

/**
 * What became of a page: `accept` says that the user has agreed to visit it, not that all is done there.
 *
 * @category models
 * @since 0.1.0
 */
export type UrlAnswer = { readonly action: "accept" } | Refusal

/**
 * The user sent the form off with these values. Fields that are left out get the defaults of the form.
 *
 * @category answers
 * @since 0.1.0
 */
export const accept = (content: Content = {}): FormAnswer => ({ action: "accept", content })

/**
 * The user agreed to visit the page.
 *
 * @category answers
 * @since 0.1.0
 */
export const visit: UrlAnswer = { action: "accept" }

/**
 * The user said no.
 *
 * @category answers
 * @since 0.1.0
 */
export const decline: Refusal = { action: "decline" }

/**
 * The user turned away without an answer.
 *
 * @category answers
 * @since 0.1.0
 */
export const cancel: Refusal = { action: "cancel" }

/**
 * The values that a form starts with: what a program shows before the user has typed anything (ELI-05).
 *
 * @category getters
 * @since 0.1.0
 */
export const defaults: (schema: FormSchema) => Content = defaultsOf

/**
 * Answers forms. The answer is completed with the form's defaults and checked against its schema; one that does not fit, or
 * has fields that were not asked for, is a defect (`UnfitAnswer`) and is not sent: the server hears -32603 (ELI-10). A handler
 * is interrupted when the server takes its question back.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerForm = <R = never>(
  handler: (form: Elicitation.FormParams) => Effect.Effect<FormAnswer, never, R>
): Layer.Layer<never, never, Exclude<R, AskServices>> =>
  Layer.effect(
    ClientHandlers.CurrentForms,
    Effect.gen(function*() {
      const run = yield* capture
      const validator = yield* JsonSchemaValidator.JsonSchemaValidator
      return {
        capability: { elicitation: { form: {} } },
        answer: (form, facts) =>
          Effect.flatMap(completer(validator, form.requestedSchema), (complete) =>
            Effect.flatMap(
              Effect.suspend(() => run(handler(form), facts)),
              (answer): Effect.Effect<Elicitation.Result> => {
                if (answer.action !== "accept") return Effect.succeed({ action: answer.action })
                const content = complete(answer.content)
                return Result.isSuccess(content)
                  ? Effect.succeed({ action: "accept", content: content.success })
                  : Effect.die(
                    new UnfitAnswer({ method: Methods.ElicitationCreate.name, problems: content.failure })
                  )
              }
            ))
      }
    })
  )

/**
 * A page to visit, as a handler gets it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Page {
  readonly message: string
  /** The address, looked at: to be shown in full, its host apart, with what is odd about it (ELI-14). */
  readonly site: ElicitedUrl.ElicitedUrl
  /** On 2025-11-25: what `notifications/elicitation/complete` will name. */
  readonly elicitationId: string | undefined
}

/**
 * Answers pages to visit. Nothing is opened or fetched here: the handler shows the address, asks, and opens it in a browser
 * of the user's only after a yes (ELI-14). Addresses that are no http or https ones never reach it.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerUrl = <R = never>(
  handler: (page: Page) => Effect.Effect<UrlAnswer, never, R>
): Layer.Layer<never, never, Exclude<R, AskServices>> =>
  Layer.effect(
    ClientHandlers.CurrentPages,
    Effect.map(capture, (run) => ({
      capability: { elicitation: { url: {} } },
      answer: ({ elicitationId, message, url }, facts) => {
        const site = ElicitedUrl.inspect(url)
        return Result.isFailure(site)
          ? Effect.fail(new McpError.InvalidParams({ detail: `url: cannot be visited: ${site.failure}` }))
          : Effect.map(
            Effect.suspend(() => run(handler({ message, site: site.success, elicitationId }), facts)),
            ({ action }): Elicitation.Result => ({ action })
          )
      }
    }))
  )
