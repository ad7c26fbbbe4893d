/** The lists of a server, whole: every page, within bounds, and the tools as they were last seen. */
import * as HeaderParam from "@mcpfx/schema/HeaderParam"
import type * as Method from "@mcpfx/schema/Method"
import * as Methods from "@mcpfx/schema/Methods"
import type * as Tool from "@mcpfx/schema/Tool"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ClientOptions } from "../ClientOptions.ts"
import type { Connection } from "../Connection.ts"
import type { McpClient } from "../McpClient.ts"
import { fail, type McpClientError, NotOffered } from "../McpClientError.ts"
import * as Pages from "../Pages.ts"
import type { ResponseCache } from "../ResponseCache.ts"
import type { Change } from "../Subscriptions.ts"
import type { Requests } from "./requests.ts"

export interface Lists extends Pick<McpClient["Service"], "tools" | "resources" | "resourceTemplates" | "prompts"> {
  /** A tool as it was last listed. */
  readonly known: (name: string) => Tool.Descriptor | undefined
}

export const make = (
  connection: Connection,
  requests: Requests,
  cache: ResponseCache,
  options: ClientOptions
): Lists => {
  const bounds: Pages.Bounds = { ...Pages.defaults, ...options.pages }
  let seen: ReadonlyMap<string, Tool.Descriptor> = new Map()

  /** Whether a capability is there at all: what is not offered is not asked for (LIF-09). */
  const offered = (kind: "tools" | "resources" | "prompts") =>
    Effect.flatMap(connection.live, (live) =>
      live.capabilities[kind] === undefined
        ? Effect.fail(fail(new NotOffered({ what: kind, revision: live.revision.version })))
        : Effect.succeed(live))

  const list = <Name extends string, Result extends { readonly nextCursor?: string }, A>(
    kind: "tools" | "resources" | "prompts",
    method: Method.RequestMethod<Name, { readonly cursor?: string }, Result>,
    items: (result: Result) => ReadonlyArray<A>
  ): Effect.Effect<ReadonlyArray<A>, McpClientError> => {
    const table = cache.table<Result>((change: Change) => change.kind === kind)
    const page = (cursor: string | undefined) =>
      Effect.map(
        requests.cached(table, method, cursor === undefined ? {} : { cursor }),
        (result): Pages.Page<A> => ({ items: items(result), nextCursor: result.nextCursor })
      )
    return Effect.andThen(offered(kind), Pages.all(connection.target, bounds, page))
  }

  const everyTool = list("tools", Methods.ToolsList, ({ tools }) => tools)
  const tools = Effect.gen(function*() {
    const listed = yield* everyTool
    const { revision } = yield* connection.live
    const usable = revision.era === "modern" && connection.transport === "http" ? yield* withHeaders(listed) : listed
    seen = new Map(usable.map((tool) => [tool.name, tool]))
    return usable
  })

  return {
    tools,
    resources: list("resources", Methods.ResourcesList, ({ resources }) => resources),
    resourceTemplates: list("resources", Methods.ResourcesTemplatesList, (result) => result.resourceTemplates),
    prompts: list("prompts", Methods.PromptsList, ({ prompts }) => prompts),
    known: (name) => seen.get(name)
  }
}

/** Leaves out the tools whose header annotations are wrong, each with a warning that says why (XH-06). */
const withHeaders = (tools: ReadonlyArray<Tool.Descriptor>) =>
  Effect.filter(tools, (tool) =>
    Result.match(HeaderParam.headerParams(tool.inputSchema), {
      onSuccess: () => Effect.succeed(true),
      onFailure: (reason) => Effect.as(Effect.logWarning(`Left out the tool ${tool.name}: ${reason}`), false)
    }))
