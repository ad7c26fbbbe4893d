/** Servers over standard streams: everything comes over a connection, and nothing over HTTP. */
import * as McpError from "@mcpfx/schema/McpError"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { rejected } from "./admission.ts"
import { fallback } from "./gateway.ts"
import type { Http } from "./http.ts"

const none = { size: 0, drain: () => Effect.void, close: Effect.void }

export const connectionsOnly: Http = {
  door: ({ settings }) => {
    const refuse = () =>
      Exit.fail(rejected(
        new McpError.InvalidRequest({ detail: "This server is reached over connections alone" }),
        fallback(settings)
      ))
    return {
      callers: none,
      handle: refuse,
      modern: refuse,
      attach: refuse,
      verify: refuse,
      terminate: refuse,
      batchRevision: refuse
    }
  },
  refusal: () => undefined,
  requireKeys: () => Effect.void
}
