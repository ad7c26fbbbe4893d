/** Rounds of a scripted server, and handlers for what it asks. */
import { ClientElicitation, ClientRoots, ClientSampling } from "@mcpfx/client"
import { ScriptedServer } from "@mcpfx/testing"
import { Effect, Layer } from "effect"
import { speaking } from "./asks.ts"

const name = { message: "Your name?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } }
export const elicit = { method: "elicitation/create", params: name }
export const sample = {
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: "?" } }], maxTokens: 10 }
}
export const roots = { method: "roots/list" }

export const Handlers = Layer.mergeAll(
  ClientElicitation.layerForm(() => Effect.succeed(ClientElicitation.accept({ name: "Ada" }))),
  ClientSampling.layer(() => Effect.succeed(ClientSampling.text("42", "deep"))),
  ClientRoots.layer([{ uri: "file:///work" }])
)

/** Replies one after the other; the last one again and again. */
export const turns = (...replies: ReadonlyArray<ScriptedServer.Reply>) => {
  let turn = 0
  return () => replies[Math.min(turn++, replies.length - 1)] ?? ScriptedServer.silence
}

export const serving = (script: ScriptedServer.Script) => ScriptedServer.make(speaking("2026-07-28", script))
export const reasonOf = <A, E extends { readonly reason: unknown }>(self: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(self), ({ reason }) => reason)
