/**
 * The rules of conversations with tools: calls and their results come in pairs (SMP-05).
 *
 * @since 0.1.0
 */
import * as Sampling from "./Sampling.ts"

/**
 * What is wrong with a conversation, by the place; `undefined` when nothing is.
 *
 * **Example** (A call without a result)
 *
 * ```ts
 * import { SamplingTurns } from "@mcpfx/schema"
 *
 * const call = { type: "tool_use", id: "1", name: "clock", input: {} } as const
 * SamplingTurns.problem([{ role: "assistant", content: call }]) // => "messages: the last call of a tool has no result"
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const problem = (messages: ReadonlyArray<Sampling.Message>): string | undefined => {
  let open: ReadonlySet<string> = new Set()
  for (const [index, message] of messages.entries()) {
    const blocks = Sampling.blocks(message)
    const results = blocks.flatMap((block) => block.type === "tool_result" ? [block.toolUseId] : [])
    const at = `messages.${index}`
    if (results.length > 0 && (message.role !== "user" || results.length < blocks.length)) {
      return `${at}: results of tools stand alone in a message of the user`
    }
    const given = new Set(results)
    if ([...open].some((id) => !given.has(id))) return `${at}: a call of a tool has no result`
    if (results.some((id) => !open.has(id))) return `${at}: a result belongs to no call of a tool`
    open = new Set(blocks.flatMap((block) => block.type === "tool_use" ? [block.id] : []))
    if (open.size > 0 && message.role !== "assistant") return `${at}: only the assistant calls tools`
  }
  return open.size > 0 ? "messages: the last call of a tool has no result" : undefined
}
