/**
 * What each side says it can do. Unknown capabilities are kept (RPC-10 of field practice: nothing fails on them).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as projects from "./internal/capabilities.ts"
import { JsonObject, JsonObjects, open } from "./internal/json.ts"
import { isJsonObject } from "./JsonRpc.ts"
import type { Version } from "./Revision.ts"

const ListChanged = open({ listChanged: Schema.optionalKey(Schema.Boolean) })
const key = Schema.optionalKey(JsonObject)

/**
 * The task support a client declares on 2025-11-25.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ClientTasks = open({
  list: key,
  cancel: key,
  requests: Schema.optionalKey(open({
    sampling: Schema.optionalKey(open({ createMessage: key })),
    elicitation: Schema.optionalKey(open({ create: key }))
  }))
})

/**
 * The task support a server declares on 2025-11-25.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ServerTasks = open({
  list: key,
  cancel: key,
  requests: Schema.optionalKey(open({ tools: Schema.optionalKey(open({ call: key })) }))
})

/**
 * What a client can do. `elicitation: {}` means forms only (CAP-05); `roots.listChanged` and `tasks` exist up to
 * 2025-11-25.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Client = open({
  experimental: Schema.optionalKey(JsonObjects),
  roots: Schema.optionalKey(ListChanged),
  sampling: Schema.optionalKey(open({ context: key, tools: key })),
  elicitation: Schema.optionalKey(open({ form: key, url: key })),
  tasks: Schema.optionalKey(ClientTasks),
  extensions: Schema.optionalKey(JsonObjects)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Client extends Schema.Schema.Type<typeof Client> {}

/**
 * What a server can do. `tasks` exists on 2025-11-25 only.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Server = open({
  experimental: Schema.optionalKey(JsonObjects),
  logging: key,
  completions: key,
  prompts: Schema.optionalKey(ListChanged),
  resources: Schema.optionalKey(open({
    subscribe: Schema.optionalKey(Schema.Boolean),
    listChanged: Schema.optionalKey(Schema.Boolean)
  })),
  tools: Schema.optionalKey(ListChanged),
  tasks: Schema.optionalKey(ServerTasks),
  extensions: Schema.optionalKey(JsonObjects)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Server extends Schema.Schema.Type<typeof Server> {}

type Rule = "object" | "objects" | "boolean" | Rules
interface Rules {
  readonly [key: string]: Rule
}

const clientRules: Rules = {
  experimental: "objects",
  roots: { listChanged: "boolean" },
  sampling: { context: "object", tools: "object" },
  elicitation: { form: "object", url: "object" },
  tasks: {
    list: "object",
    cancel: "object",
    requests: { sampling: { createMessage: "object" }, elicitation: { create: "object" } }
  },
  extensions: "objects"
}

const follows = (u: unknown, rule: Rule): boolean => {
  if (u === undefined) return true
  if (rule === "boolean") return typeof u === "boolean"
  if (!isJsonObject(u)) return false
  if (rule === "object") return true
  if (rule === "objects") return Object.values(u).every(isJsonObject)
  for (const name of Object.keys(u)) {
    const inner = Object.hasOwn(rule, name) ? rule[name] : undefined
    if (inner !== undefined && !follows(u[name], inner)) return false
  }
  return true
}

/**
 * The rule of {@link Client} by hand: it is checked on every request of 2026-07-28.
 *
 * @category guards
 * @since 0.1.0
 */
export const isClient = (u: unknown): u is Client => u !== undefined && follows(u, clientRules)

/**
 * What a server may want from a client.
 *
 * @category models
 * @since 0.1.0
 */
export type Ask =
  | "elicitation.form"
  | "elicitation.url"
  | "sampling"
  | "sampling.tools"
  | "sampling.context"
  | "roots"

/**
 * Whether a client that declared `self` accepts `ask` (CAP-02, CAP-05, CAP-06, MRT-05).
 *
 * **Example** (A client that declared elicitation without a mode)
 *
 * ```ts
 * import { Capabilities } from "@mcpfx/schema"
 *
 * Capabilities.covers({ elicitation: {} }, "elicitation.form") // => true
 * Capabilities.covers({ elicitation: {} }, "elicitation.url") // => false
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const covers = (self: Client, ask: Ask): boolean => {
  switch (ask) {
    case "elicitation.form":
      return self.elicitation !== undefined &&
        (self.elicitation.form !== undefined || self.elicitation.url === undefined)
    case "elicitation.url":
      return self.elicitation?.url !== undefined
    case "sampling":
      return self.sampling !== undefined
    case "sampling.tools":
      return self.sampling?.tools !== undefined
    case "sampling.context":
      return self.sampling?.context !== undefined
    case "roots":
      return self.roots !== undefined
  }
}

const requirement = (ask: Ask): Client => {
  switch (ask) {
    case "elicitation.form":
      return { elicitation: { form: {} } }
    case "elicitation.url":
      return { elicitation: { url: {} } }
    case "sampling":
      return { sampling: {} }
    case "sampling.tools":
      return { sampling: { tools: {} } }
    case "sampling.context":
      return { sampling: { context: {} } }
    case "roots":
      return { roots: {} }
  }
}

/**
 * The capabilities that `asks` need, as -32021 names them (META-13).
 *
 * @category constructors
 * @since 0.1.0
 */
export const required = (asks: Iterable<Ask>): Client => {
  let all: Client = {}
  for (const ask of asks) {
    const one = requirement(ask)
    all = {
      ...all,
      ...one,
      ...(one.elicitation && { elicitation: { ...all.elicitation, ...one.elicitation } }),
      ...(one.sampling && { sampling: { ...all.sampling, ...one.sampling } })
    }
  }
  return all
}

/**
 * The capability of an extension, as -32021 names it (TKX-02).
 *
 * @category constructors
 * @since 0.1.0
 */
export const requiredExtension = (id: string): Client => ({ extensions: { [id]: {} } })

/**
 * What of `asks` a client that declared `self` does not accept, as -32021 names it; `undefined` when nothing is missing.
 *
 * @category getters
 * @since 0.1.0
 */
export const missing = (self: Client, asks: Iterable<Ask>): Client | undefined => {
  const open_ = [...asks].filter((ask) => !covers(self, ask))
  return open_.length === 0 ? undefined : required(open_)
}

/**
 * Whether a side that declared `self` supports an extension (EXT-02).
 *
 * @category getters
 * @since 0.1.0
 */
export const hasExtension = (self: Client | Server, id: string): boolean =>
  self.extensions !== undefined && Object.hasOwn(self.extensions, id)

/**
 * What of `self` a client may declare on `version`: the rest is left out.
 *
 * @category encoding
 * @since 0.1.0
 */
export const clientFor = (self: Client, version: Version): Client => {
  const projected = projects.client[version](self)
  return isClient(projected) ? projected : self
}

const isServer = Schema.is(Server.schema)

/**
 * What of `self` a server may declare on `version`: the rest is left out.
 *
 * @category encoding
 * @since 0.1.0
 */
export const serverFor = (self: Server, version: Version): Server => {
  const projected = projects.server[version](self)
  return isServer(projected) ? projected : self
}
