/** Clients that leave in the middle: sessions nobody ends, streams that are cut. */
import * as Effect from "effect/Effect"
import { Wrong } from "./wrong.ts"

const headers = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream"
}

const failed = (error: unknown): Wrong => new Wrong(error instanceof Error ? error.message : String(error))

const post = (port: number, session: string | undefined, message: object, signal: AbortSignal) =>
  fetch(`http://127.0.0.1:${port}/mcp`, {
    method: "POST",
    headers: session === undefined ? headers : { ...headers, "mcp-session-id": session },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    signal
  })

/** Opens a session and forgets about it; gives its id. */
export const startSession = (port: number): Effect.Effect<string, Wrong> =>
  Effect.tryPromise({
    try: async (signal) => {
      const clientInfo = { name: "rude", version: "1.0.0" }
      const response = await post(port, undefined, {
        id: 0,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo }
      }, signal)
      await response.text()
      const session = response.headers.get("mcp-session-id")
      if (session === null) throw new Error(`no session: ${response.status}`)
      await (await post(port, session, { method: "notifications/initialized" }, signal)).text()
      return session
    },
    catch: failed
  })

/** Asks for something that takes its time, and goes: it is carried out all the same (HTTP-26). */
export const leaveSession = (port: number): Effect.Effect<void, Wrong> =>
  Effect.flatMap(startSession(port), (session) =>
    Effect.tryPromise({
      try: (signal) =>
        post(
          port,
          session,
          { id: 1, method: "tools/call", params: { name: "steps", arguments: { wait: 500 } } },
          signal
        ),
      catch: failed
    }).pipe(Effect.timeoutOption("20 millis"), Effect.asVoid))

/** Opens the stream of a session and cuts it. */
export const watchAndCut = (port: number): Effect.Effect<void, Wrong> =>
  Effect.flatMap(startSession(port), (session) =>
    Effect.tryPromise({
      try: async (signal) => {
        const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
          headers: { accept: "text/event-stream", "mcp-session-id": session },
          signal
        })
        await response.text()
      },
      catch: failed
    }).pipe(Effect.timeoutOption("20 millis"), Effect.asVoid))
