/** Requests that are nested in one that is being served: they go out on its stream. */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type { Outlet } from "@mcpfx/transport/Exchange"
import { MessageTooLarge } from "@mcpfx/transport/TransportError"
import * as Effect from "effect/Effect"
import type { Route } from "./call.ts"

const encoder = new TextEncoder()

/** A stream drops what is too large for it without a word, and whoever asked would wait for nothing. */
export const nestedOn = (outlet: Outlet): Route => ({
  send: (message) =>
    Effect.suspend(() => {
      const { maxBytes: limit } = outlet
      if (limit === undefined) return outlet.push(message)
      const bytes = encoder.encode(JsonRpc.stringify(message)).length
      return bytes > limit ? Effect.fail(new MessageTooLarge({ bytes, limit })) : outlet.push(message)
    })
})
