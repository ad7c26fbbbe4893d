/** The lists, page by page; where everybody sees the same, each page is written once. */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as McpError from "@mcpfx/schema/McpError"
import type * as Method from "@mcpfx/schema/Method"
import * as Methods from "@mcpfx/schema/Methods"
import type * as Pagination from "@mcpfx/schema/Pagination"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { EntryFacts } from "../Entry.ts"
import * as Pages from "../Pages.ts"
import type { Snapshot } from "../Registry.ts"
import { isVisible } from "./entries.ts"
import type { Lane, Route } from "./lane.ts"

interface Rest {
  readonly nextCursor?: string
  readonly ttlMs: number
  readonly cacheScope: "public" | "private"
}

interface List<E, Result_> {
  readonly kind: Pages.Kind
  readonly entries: (snapshot: Snapshot) => ReadonlyArray<E>
  readonly nameOf: (entry: E) => string
  readonly result: (entries: ReadonlyArray<E>, rest: Rest) => Result_
}

const isGuarded = (entries: ReadonlyArray<EntryFacts>): boolean => entries.some((entry) => entry.visible !== undefined)

/** The first page, in the words in which it is mostly asked for: nothing there that could be wrong. */
const isPlain = (params: JsonRpc.JsonObject | undefined): boolean => {
  if (params === undefined) return true
  const meta = params["_meta"]
  return params["cursor"] === undefined &&
    (meta === undefined || (JsonRpc.isJsonObject(meta) && meta["progressToken"] === undefined))
}

const addList = <Name extends string, E extends EntryFacts, Result_>(
  lane: Lane,
  method: Method.RequestMethod<Name, Pagination.Params, Result_>,
  list: List<E, Result_>
): void =>
  lane.add(method, (wire): Route => {
    const { cache, limits } = lane.settings
    // Looking through a list for visibility is done once for each state of it.
    let known: { readonly entries: ReadonlyArray<E>; readonly guarded: boolean } | undefined
    const write = (page: Pages.Page<E>, scope: "public" | "private"): JsonRpc.JsonObject =>
      wire.encode(list.result(page.items, {
        ttlMs: cache.ttlMs,
        cacheScope: scope,
        ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor })
      }))

    const first = { cursor: undefined, size: limits.pageSize }

    return (request, context) => {
      const entries = list.entries(lane.snapshot())
      if (known?.entries !== entries) known = { entries, guarded: isGuarded(entries) }
      if (!known.guarded && isPlain(request.params)) {
        const page = () => Result.getOrThrow(Pages.page(list.kind, entries, list.nameOf, first))
        return Effect.succeed(lane.keep(list.kind, () => write(page(), cache.scope)))
      }
      const params = wire.decode(request)
      if (Result.isFailure(params)) return Effect.fail(params.failure)
      const options = { cursor: params.success.cursor, size: limits.pageSize }
      if (known.guarded) {
        const visible = entries.filter((entry) => isVisible(entry, context))
        const page = Pages.page(list.kind, visible, list.nameOf, options)
        return answer(Result.map(page, (page) => write(page, "private")))
      }
      const page = Pages.page(list.kind, entries, list.nameOf, options)
      return answer(Result.map(page, (page) => {
        // Pages are told apart by their first entry, so that no cursor can make the lane keep more than there is.
        const first = page.items[0]
        const key = `${list.kind} ${first === undefined ? "" : list.nameOf(first)}`
        return lane.keep(key, () => write(page, cache.scope))
      }))
    }
  })

const answer = (
  result: Result.Result<JsonRpc.ResultBody, McpError.McpError>
): Effect.Effect<JsonRpc.ResultBody, McpError.McpError> =>
  Result.isSuccess(result) ? Effect.succeed(result.success) : Effect.fail(result.failure)

export const addLists = (lane: Lane): void => {
  addList(lane, Methods.ToolsList, {
    kind: "tools",
    entries: (snapshot) => snapshot.tools,
    nameOf: (entry) => entry.name,
    result: (entries, rest) => ({ tools: entries.map((entry) => entry.descriptor), ...rest })
  })
  addList(lane, Methods.PromptsList, {
    kind: "prompts",
    entries: (snapshot) => snapshot.prompts,
    nameOf: (entry) => entry.name,
    result: (entries, rest) => ({ prompts: entries.map((entry) => entry.descriptor), ...rest })
  })
  addList(lane, Methods.ResourcesList, {
    kind: "resources",
    entries: (snapshot) => snapshot.resources,
    nameOf: (entry) => entry.uri,
    result: (entries, rest) => ({ resources: entries.map((entry) => entry.descriptor), ...rest })
  })
  addList(lane, Methods.ResourcesTemplatesList, {
    kind: "templates",
    entries: (snapshot) => snapshot.templates,
    nameOf: (entry) => entry.template,
    result: (entries, rest) => ({ resourceTemplates: entries.map((entry) => entry.descriptor), ...rest })
  })
}
