import type { WireError } from "@mcpfx/schema/JsonRpc"

/**
 * The number and the words that deployed clients know for a session that is gone; the protocol itself only asks for status
 * 404 (HTTP-39). It is not used on 2026-07-28, where the number would mean nothing.
 */
export const sessionNotFound: WireError = { code: -32001, message: "Session not found" }
