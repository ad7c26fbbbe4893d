/** Finding what a request means among what is registered, for the caller it comes from. */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type { McpError } from "@mcpfx/schema/McpError"
import * as Methods from "@mcpfx/schema/Methods"
import type { ResourceRead } from "@mcpfx/schema/Outcome"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Entry, EntryFacts, RequestServices, ResourceEntry, TemplateEntry } from "../Entry.ts"
import type { Snapshot } from "../Registry.ts"

type Request = RequestContext["Service"]

/** A check that throws hides the entry. */
export const isVisible = (entry: EntryFacts, context: Request): boolean => {
  const { visible } = entry
  return visible === undefined || Result.getOrElse(Result.try(() => visible(context)), () => false)
}

export interface Found {
  readonly entry: ResourceEntry | TemplateEntry
  readonly read: Effect.Effect<ResourceRead, McpError, RequestServices>
}

/**
 * The resource of exactly this URI, else the first template it matches (RES-09 of field practice). Invisible ones are not
 * there.
 */
export const find = (snapshot: Snapshot, uri: string, context: Request): Found | undefined => {
  const resource = snapshot.resource(uri)
  if (resource !== undefined && isVisible(resource, context)) return { entry: resource, read: resource.read(uri) }
  for (const template of snapshot.templates) {
    const read = template.match(uri)
    if (read !== undefined && isVisible(template, context)) return { entry: template, read }
  }
  return undefined
}

const text = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

/** The entry that a read comes to, for this caller: what is invisible stands in the way of nothing behind it. */
const read = (snapshot: Snapshot, uri: string | undefined, context: () => Request): Entry | undefined => {
  if (uri === undefined) return undefined
  const isThere = (entry: EntryFacts): boolean => entry.visible === undefined || isVisible(entry, context())
  const resource = snapshot.resource(uri)
  return resource !== undefined && isThere(resource)
    ? resource
    : snapshot.templates.find((template) => template.match(uri) !== undefined && isThere(template))
}

/** The entry a request asks for; `undefined` for methods that stand for no entry and for what is not there. */
export const named = (snapshot: Snapshot, request: JsonRpc.Request, context: () => Request): Entry | undefined => {
  switch (request.method) {
    case Methods.ToolsCall.name: {
      const name = text(request.params?.["name"])
      return name === undefined ? undefined : snapshot.tool(name)
    }
    case Methods.PromptsGet.name: {
      const name = text(request.params?.["name"])
      return name === undefined ? undefined : snapshot.prompt(name)
    }
    case Methods.ResourcesRead.name:
      return read(snapshot, text(request.params?.["uri"]), context)
    default:
      return snapshot.method(request.method)
  }
}

/** The entry that a request says something of without running it: its scopes are needed for that too. */
export const concerned = (snapshot: Snapshot, request: JsonRpc.Request, context: () => Request): Entry | undefined => {
  switch (request.method) {
    case Methods.CompletionComplete.name: {
      const ref = request.params?.["ref"]
      if (!JsonRpc.isJsonObject(ref)) return undefined
      if (ref["type"] === "ref/prompt") {
        const name = text(ref["name"])
        return name === undefined ? undefined : snapshot.prompt(name)
      }
      const uri = text(ref["uri"])
      return uri === undefined ? undefined : snapshot.template(uri) ?? snapshot.resource(uri)
    }
    case Methods.ResourcesSubscribe.name:
      return read(snapshot, text(request.params?.["uri"]), context)
    default:
      return undefined
  }
}
