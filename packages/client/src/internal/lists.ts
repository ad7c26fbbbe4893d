/** The lists of a server, and the tools as last seen. */
import * as Codes from "@mcpfx/schema/Codes"
import * as HeaderParam from "@mcpfx/schema/HeaderParam"
import * as Methods from "@mcpfx/schema/Methods"
import type * as Prompt from "@mcpfx/schema/Prompt"
import type * as Resource from "@mcpfx/schema/Resource"
import type * as Tool from "@mcpfx/schema/Tool"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ClientOptions } from "../ClientOptions.ts"
import type { Connection } from "../Connection.ts"
import type { McpClient } from "../McpClient.ts"
import type { McpClientError } from "../McpClientError.ts"
import * as Pages from "../Pages.ts"
import type { ResponseCache } from "../ResponseCache.ts"
import type { Kind } from "./listening.ts"
import type { Oddities } from "./oddities.ts"
import type { Requests } from "./requests.ts"
import * as WholeList from "./wholeList.ts"

/** The tools as they were last listed; empty again when they have changed. */
export class KnownTools {
  private byName: ReadonlyMap<string, Tool.Descriptor> = new Map()

  get(name: string): Tool.Descriptor | undefined {
    return this.byName.get(name)
  }

  set(tools: ReadonlyArray<Tool.Descriptor>): void {
    this.byName = new Map(tools.map((tool) => [tool.name, tool]))
  }

  clear(): void {
    if (this.byName.size > 0) this.byName = new Map()
  }
}

export interface Lists extends Pick<McpClient["Service"], "tools" | "resources" | "resourceTemplates" | "prompts"> {
  /** Lists the tools anew, whatever is kept. */
  readonly refreshTools: Effect.Effect<unknown, McpClientError>
  /** Drops what is kept of a list that is another one now (CCH-06). */
  readonly changed: (kind: Kind) => void
}

export interface Parts {
  readonly connection: Connection
  readonly requests: Requests
  readonly cache: ResponseCache
  readonly known: KnownTools
  readonly odd: Oddities
  readonly options: ClientOptions
}

export const make = (parts: Parts): Lists => {
  const { cache, connection, known, odd, options, requests } = parts
  const changes: Record<Kind, number> = { tools: 0, resources: 0, prompts: 0 }
  const whole: WholeList.Parts = {
    connection,
    requests,
    cache,
    odd,
    bounds: { ...Pages.defaults, ...options.pages },
    changes
  }

  const changed = (kind: Kind): void => {
    changes[kind]++
    cache.invalidate({ kind })
    if (kind === "tools") known.clear()
  }

  const list = <Name extends string, R extends WholeList.Page, A>(spec: WholeList.Spec<Name, R, A>) =>
    WholeList.make(whole, spec)

  const everyTool = list({
    kind: "tools",
    method: Methods.ToolsList,
    items: ({ tools }) => tools,
    key: ({ name }: Tool.Descriptor) => name
  })
  const tools = Effect.gen(function*() {
    const listed = yield* everyTool
    const { revision } = yield* connection.live
    const usable = revision.era === "modern" && connection.transport === "http"
      ? yield* withHeaders(odd, listed)
      : listed
    known.set(usable)
    return usable
  })
  const templates = list({
    kind: "resources",
    method: Methods.ResourcesTemplatesList,
    items: ({ resourceTemplates }) => resourceTemplates,
    key: ({ uriTemplate }: Resource.TemplateDescriptor) => uriTemplate
  })

  return {
    changed,
    tools,
    refreshTools: Effect.suspend(() => {
      cache.invalidate({ kind: "tools" })
      return tools
    }),
    resources: list({
      kind: "resources",
      method: Methods.ResourcesList,
      items: ({ resources }) => resources,
      key: ({ uri }: Resource.Descriptor) => uri
    }),
    // Many servers with resources and without templates do not know the method.
    resourceTemplates: Effect.catch(
      templates,
      (error) =>
        error.reason._tag === "Refused" && error.reason.code === Codes.methodNotFound
          ? Effect.succeed([])
          : Effect.fail(error)
    ),
    prompts: list({
      kind: "prompts",
      method: Methods.PromptsList,
      items: ({ prompts }) => prompts,
      key: ({ name }: Prompt.Descriptor) => name
    })
  }
}

/** Leaves out the tools whose header annotations are wrong, each with a warning that says why (XH-06). */
const withHeaders = (odd: Oddities, tools: ReadonlyArray<Tool.Descriptor>) =>
  Effect.filter(tools, (tool) => {
    const params = HeaderParam.headerParams(tool.inputSchema)
    return Result.isSuccess(params)
      ? Effect.succeed(true)
      : Effect.as(odd(`tools/list: "${tool.name}" is left out: ${params.failure}`), false)
  })
