/** The lists of a server, whole: every page, within bounds, without the items that are wrong, and the tools as last seen. */
import * as Codes from "@mcpfx/schema/Codes"
import * as HeaderParam from "@mcpfx/schema/HeaderParam"
import type * as Method from "@mcpfx/schema/Method"
import * as Methods from "@mcpfx/schema/Methods"
import type * as Prompt from "@mcpfx/schema/Prompt"
import type * as Resource from "@mcpfx/schema/Resource"
import * as Salvage from "@mcpfx/schema/Salvage"
import type * as Tool from "@mcpfx/schema/Tool"
import type { PeerFailure, RequestOptions } from "@mcpfx/session/Peer"
import { InvalidResponse, MethodUnsupported } from "@mcpfx/session/SessionError"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ClientOptions } from "../ClientOptions.ts"
import type { Connection, Live } from "../Connection.ts"
import type { McpClient } from "../McpClient.ts"
import type { McpClientError } from "../McpClientError.ts"
import * as Pages from "../Pages.ts"
import type { ResponseCache } from "../ResponseCache.ts"
import type { Oddities } from "./oddities.ts"
import * as Offers from "./offers.ts"
import type { Requests } from "./requests.ts"

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
}

export interface Parts {
  readonly connection: Connection
  readonly requests: Requests
  readonly cache: ResponseCache
  readonly known: KnownTools
  readonly odd: Oddities
  readonly options: ClientOptions
}

interface Listed {
  readonly nextCursor?: string
}

interface Spec<Name extends string, R extends Listed, A> {
  readonly kind: "tools" | "resources" | "prompts"
  readonly method: Method.RequestMethod<Name, { readonly cursor?: string }, R>
  readonly items: (result: R) => ReadonlyArray<A>
  readonly key: (item: A) => string
}

export const make = (parts: Parts): Lists => {
  const { cache, connection, known, odd, options, requests } = parts
  const bounds: Pages.Bounds = { ...Pages.defaults, ...options.pages }

  const list = <Name extends string, R extends Listed, A>(
    { items, key, kind, method }: Spec<Name, R, A>
  ): Effect.Effect<ReadonlyArray<A>, McpClientError> => {
    const table = cache.table<R>((change) => change.kind === kind)
    const page = (cursor: string | undefined) => {
      const params = cursor === undefined ? {} : { cursor }
      return Effect.map(
        requests.cached(table, method.name, params, (live, options) => read(odd, live, method, params, options)),
        (result): Pages.Page<A> => ({ items: items(result), nextCursor: result.nextCursor })
      )
    }
    const isStale = ({ reason }: McpClientError): boolean => {
      const stale = reason._tag === "Refused" && reason.code === Codes.invalidParams
      if (stale) cache.invalidate({ kind })
      return stale
    }
    const pages = Pages.all({ server: connection.target, bounds, page, key, isStale })
    return Effect.flatMap(
      connection.live,
      (live) => Offers.missing(live, method.name) === undefined ? pages : Effect.succeed([])
    )
  }

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

/** Asks for one page, and reads what of it can be read. */
const read = <Name extends string, Params, R>(
  odd: Oddities,
  live: Live,
  method: Method.RequestMethod<Name, Params, R>,
  params: Params,
  options: RequestOptions
): Effect.Effect<R, PeerFailure> => {
  const codec = live.revision.request(method)
  if (codec === undefined) {
    return Effect.fail(new MethodUnsupported({ method: method.name, revision: live.revision.version }))
  }
  return Effect.flatMap(live.session.peer.requestRaw(method.name, codec.encodeParams(params), options), (wire) => {
    const salvaged = Salvage.list(codec, wire)
    if (Result.isFailure(salvaged)) {
      return Effect.fail(new InvalidResponse({ method: method.name, detail: salvaged.failure.message() }))
    }
    const { faults, result } = salvaged.success
    return faults.length === 0
      ? Effect.succeed(result)
      : Effect.as(Effect.forEach(faults, (fault) => odd(sentence(method.name, fault)), { discard: true }), result)
  })
}

const sentence = (method: string, { index, name, reason, repaired }: Salvage.Fault): string =>
  `${method}: ${name === undefined ? `item ${index}` : `"${name}"`} is ${
    repaired ? "put right" : "left out"
  }: ${reason}`

/** Leaves out the tools whose header annotations are wrong, each with a warning that says why (XH-06). */
const withHeaders = (odd: Oddities, tools: ReadonlyArray<Tool.Descriptor>) =>
  Effect.filter(tools, (tool) => {
    const params = HeaderParam.headerParams(tool.inputSchema)
    return Result.isSuccess(params)
      ? Effect.succeed(true)
      : Effect.as(odd(`tools/list: "${tool.name}" is left out: ${params.failure}`), false)
  })
