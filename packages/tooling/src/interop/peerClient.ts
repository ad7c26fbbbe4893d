/** What every client of another make is asked to do, in one shape. */
import type { Wire } from "./wire.ts"

/** The server to reach. */
export type Target =
  | {
    readonly transport: "stdio"
    readonly command: string
    readonly args: ReadonlyArray<string>
    readonly cwd: string
    readonly env: Readonly<Record<string, string>>
  }
  | {
    readonly transport: "http"
    readonly url: string
    /** Over the two endpoints of HTTP+SSE, whose stream is at the address. */
    readonly sse?: boolean
  }

export interface Called {
  readonly text: string
  readonly structured: unknown
  readonly isError: boolean
}

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: number) => void
}

/** What not every client can do. */
export interface More {
  readonly templates: () => Promise<ReadonlyArray<string>>
  readonly complete: (of: "prompt" | "template", typed: string) => Promise<ReadonlyArray<string>>
  readonly ping: () => Promise<void>
  /** Calls a tool so that its log messages are heard. */
  readonly callLogged: (name: string) => Promise<ReadonlyArray<unknown>>
  /** Subscribes to changes of the tools and of one resource; gives what is heard, filled as it comes. */
  readonly watch: (uri: string) => Promise<ReadonlyArray<string>>
}

export interface PeerClient {
  readonly revision: () => string | undefined
  readonly tools: () => Promise<ReadonlyArray<string>>
  readonly resources: () => Promise<ReadonlyArray<string>>
  readonly prompts: () => Promise<ReadonlyArray<string>>
  readonly call: (name: string, args: Readonly<Record<string, unknown>>, options?: CallOptions) => Promise<Called>
  readonly read: (uri: string) => Promise<string>
  readonly prompt: (name: string, args: Readonly<Record<string, string>>) => Promise<string>
  /** The code of the error with which a request failed. */
  readonly codeOf: (failure: unknown) => number | undefined
  readonly more: More | undefined
  /** The process of the connection, where the client tells: it may have started others. */
  readonly pid: number | undefined
  readonly close: () => Promise<void>
}

/** Connects at the revision that is told, or finds one by itself. */
export type Connect = (target: Target, revision: string | undefined, wire: Wire) => Promise<PeerClient>

const isObject = (u: unknown): u is Readonly<Record<string, unknown>> => typeof u === "object" && u !== null

/** The texts in content blocks, messages or contents, whatever the shape around them. */
export const textsIn = (u: unknown): string => {
  if (Array.isArray(u)) return u.map(textsIn).join("")
  if (!isObject(u)) return ""
  return typeof u["text"] === "string" ? u["text"] : textsIn(u["content"])
}

export const calledOf = (result: { readonly [name: string]: unknown }): Called => ({
  text: textsIn(result["content"]),
  structured: result["structuredContent"],
  isError: result["isError"] === true
})

export const numberAt = (u: unknown, name: string): number | undefined => {
  const value = isObject(u) ? u[name] : undefined
  return typeof value === "number" ? value : undefined
}
