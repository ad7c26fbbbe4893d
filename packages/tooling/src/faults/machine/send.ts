/** What the world is told to do, with names in the place of what only the server knows. */
import type { Update } from "@mcpfx/server/ChangeBus"
import { at, type Json } from "../wire.ts"

/** Who sends, and in which session or over which connection. */
export interface By {
  readonly principal: string
  readonly session?: string | undefined
  readonly version?: string | undefined
  readonly connection?: string | undefined
}

export type Send =
  | { readonly _tag: "Message"; readonly pipe: string; readonly by: By; readonly body: (names: Names) => Json }
  | { readonly _tag: "Attach"; readonly pipe: string; readonly by: By; readonly resumes: string | undefined }
  | { readonly _tag: "Delete"; readonly pipe: string; readonly by: By }
  | { readonly _tag: "Connect"; readonly pipe: string }
  | { readonly _tag: "Cut"; readonly pipe: string }
  | { readonly _tag: "Release"; readonly key: string }
  | { readonly _tag: "Change"; readonly change: Update }
  | { readonly _tag: "Advance"; readonly millis: number }
  | { readonly _tag: "Drain" }
  | { readonly _tag: "Restart" }

/** What the server has said its things are called, by the requests that they came from. */
export class Names {
  /** Session ids, by the pipes that they came over. */
  readonly sessions = new Map<string, string>()
  private readonly results = new Map<unknown, unknown>()

  /** The ids of questions, by their keys. */
  private readonly questions = new Map<string, number | string>()
  /** The keys of questions, by the conversations they belong to and their ids. */
  private readonly keys = new Map<string, string>()
  /** What was asked twice under one id of one conversation. */
  readonly reused: Array<string> = []

  learn(conversation: string, message: unknown): void {
    const id = at(message, "id")
    const result = at(message, "result")
    if (result !== undefined) this.results.set(id, result)
    const key = at(message, "params", "message")
    if (typeof key !== "string" || (typeof id !== "string" && typeof id !== "number")) return
    const place = `${conversation} ${id}`
    const before = this.keys.get(place)
    if (before !== undefined && before !== key) this.reused.push(`${before} and ${key} have the id ${id}`)
    this.keys.set(place, key)
    this.questions.set(key, id)
  }

  /** The key of a question. */
  asked(conversation: string, id: unknown): string | undefined {
    return this.keys.get(`${conversation} ${String(id)}`)
  }

  /** The id of a question; one that nobody has where it was never heard. */
  questionOf(key: string): number | string {
    return this.questions.get(key) ?? 999_999
  }

  task(id: number): string {
    const result = this.results.get(id)
    return String(at(result, "task", "taskId") ?? at(result, "taskId"))
  }

  state(id: number): string {
    return String(at(this.results.get(id), "requestState"))
  }

  /** The key of the one question of a round. */
  question(id: number): string {
    const [key = ""] = Object.keys(Object(at(this.results.get(id), "inputRequests")))
    return key
  }
}
