/** What handlers of prompts return, and how it is written as messages. */
import type { JsonObject } from "@mcpfx/schema/JsonRpc"
import type * as Prompt from "@mcpfx/schema/Prompt"

/**
 * A text, which is a message of the user, a message, or several of either.
 *
 * @category models
 * @since 0.1.0
 */
export type Messages = string | Prompt.Message | ReadonlyArray<string | Prompt.Message>

/**
 * What a handler gives when its messages are not all there is to say. It is recognised by being an instance of this class:
 * see `ServerPrompt.result`.
 *
 * @category models
 * @since 0.1.0
 */
export class Result {
  readonly messages: Messages
  readonly description: string | undefined
  readonly meta: JsonObject | undefined
  constructor(messages: Messages, description: string | undefined, meta: JsonObject | undefined) {
    this.messages = messages
    this.description = description
    this.meta = meta
  }
}

const isMessage = (u: unknown): u is string | Prompt.Message =>
  typeof u === "string" || (typeof u === "object" && u !== null && "role" in u && "content" in u)

export const isMessages = (u: unknown): u is Messages => Array.isArray(u) ? u.every(isMessage) : isMessage(u)

const isList = (messages: Messages): messages is ReadonlyArray<string | Prompt.Message> => Array.isArray(messages)

export const write = (messages: Messages): ReadonlyArray<Prompt.Message> =>
  (isList(messages) ? messages : [messages]).map((one) =>
    typeof one === "string" ? { role: "user", content: { type: "text", text: one } } : one
  )
