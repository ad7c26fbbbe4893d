/** The messages that clients send. */
import { initialize as hello, initialized, isJson, type Json, modernMeta, request } from "../wire.ts"
import type { Names } from "./send.ts"

export { initialized }

/** The resource that subscriptions are about. */
export const watched = "demo://a"

const extension = "io.modelcontextprotocol/tasks"

export const initialize = (id: number, version: string): Json => {
  const message = hello(version, id)
  const params = message["params"]
  return { ...message, params: { ...(isJson(params) ? params : {}), capabilities: { elicitation: {} } } }
}

const progressing = (id: number): Json => ({ progressToken: id })

export const call = (id: number, name: string, key: string): Json =>
  request(id, "tools/call", { name, arguments: { key }, _meta: progressing(id) })

export const asTask = (id: number, key: string): Json =>
  request(id, "tools/call", { name: "job", arguments: { key }, task: {} })

export const subscribe = (id: number, uri: string): Json => request(id, "resources/subscribe", { uri })

export const ping = (id: number): Json => request(id, "ping")

export const cancelled = (requestId: number): Json => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId }
})

export const response = (id: number | string, result: Json): Json => ({ jsonrpc: "2.0", id, result })

export const accept: Json = { action: "accept", content: { name: "x" } }
export const decline: Json = { action: "decline" }
export const dismiss: Json = { action: "cancel" }
export const malformed: Json = { action: "accept", content: {} }

/** Requests of tasks on 2025-11-25 and in the extension. */
export const ofTask = (method: "get" | "result" | "cancel", id: number, taskId: string): Json =>
  request(id, `tasks/${method}`, { taskId })

/** A request that says who sends it; with tasks where it wants one. */
export const modern = (message: Json, tasks = false): Json => {
  const params = message["params"]
  const own = isJson(params) ? params : {}
  const capabilities = { elicitation: { form: {} }, ...(tasks ? { extensions: { [extension]: {} } } : {}) }
  return {
    ...message,
    params: {
      ...own,
      _meta: {
        ...modernMeta,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        ...(isJson(own["_meta"]) ? own["_meta"] : {})
      }
    }
  }
}

export const listen = (id: number): Json =>
  modern(request(id, "subscriptions/listen", {
    notifications: { toolsListChanged: true, resourceSubscriptions: [watched] }
  }))

export type Retry = "accept" | "decline" | "missing" | "tampered"

/** The next round of a request. */
export const retry =
  (id: number, round: { readonly id: number; readonly key: string }, how: Retry) => (names: Names): Json => {
    const state = names.state(round.id)
    const answers: Readonly<Record<Retry, Json | undefined>> = { accept, decline, missing: undefined, tampered: accept }
    const answer = answers[how]
    return modern(request(id, "tools/call", {
      name: "ask",
      arguments: { key: round.key },
      requestState: how === "tampered" ? `${state.slice(0, -8)}AAAAAAAA` : state,
      ...(answer === undefined ? {} : { inputResponses: { [names.question(round.id)]: answer } })
    }))
  }
