/**
 * The extension `io.modelcontextprotocol/ui`: tools with a page of HTML that shows what they gave.
 *
 * A tool names its page by a `ui://` URI in its `_meta`; the page is a resource, which says in its own `_meta` what it needs.
 * Clients announce which types of pages they show. A tool remains a tool for those that show none.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Capabilities from "./Capabilities.ts"
import * as Extension_ from "./Extension.ts"
import { open } from "./internal/json.ts"
import type { JsonObject } from "./JsonRpc.ts"

/**
 * The identifier of the extension.
 *
 * @category constants
 * @since 0.1.0
 */
export const id = "io.modelcontextprotocol/ui"

/** The type of pages, the one there is so far (APP-01). @category constants @since 0.1.0 */
export const mimeType = "text/html;profile=mcp-app"

/** What the URIs of pages begin with (APP-01). @category constants @since 0.1.0 */
export const scheme = "ui://"

/**
 * The extension itself: clients announce it with the types of pages they show (APP-02).
 *
 * @category extensions
 * @since 0.1.0
 */
export const Extension = Extension_.make(id, {
  official: true,
  clientSettings: { mimeTypes: Schema.Array(Schema.String) }
})

const domains = Schema.optionalKey(Schema.Array(Schema.String))

/**
 * The origins a page may reach; what is left out reaches none.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Csp = open({
  /** Requests: fetch, XHR, WebSocket. */
  connectDomains: domains,
  /** Scripts, styles, images, fonts, media. */
  resourceDomains: domains,
  /** Frames within the page. */
  frameDomains: domains,
  /** Bases of relative URLs. */
  baseUriDomains: domains
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Csp extends Schema.Schema.Type<typeof Csp> {}

const wish = Schema.optionalKey(open({}))

/**
 * What a page would like to be allowed; it must do without.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Permissions = open({ camera: wish, microphone: wish, geolocation: wish, clipboardWrite: wish })

/**
 * @category models
 * @since 0.1.0
 */
export interface Permissions extends Schema.Schema.Type<typeof Permissions> {}

/**
 * What a page says about itself, in `_meta.ui` of its contents.
 *
 * @category schemas
 * @since 0.1.0
 */
export const PageMeta = open({
  csp: Schema.optionalKey(Csp),
  permissions: Schema.optionalKey(Permissions),
  /** An origin of its own; how it is written is the host's to say. */
  domain: Schema.optionalKey(Schema.String),
  /** Whether the host shall draw a border; left out, it decides. */
  prefersBorder: Schema.optionalKey(Schema.Boolean)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface PageMeta extends Schema.Schema.Type<typeof PageMeta> {}

/**
 * Who may call a tool: the model, or the pages of its server.
 *
 * @category models
 * @since 0.1.0
 */
export type Audience = "model" | "app"

/**
 * What a tool says in `_meta.ui`. Values that nobody knows here are kept, and count for nobody.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolMeta = open({
  resourceUri: Schema.optionalKey(Schema.String),
  visibility: Schema.optionalKey(Schema.Array(Schema.String))
})

/**
 * @category models
 * @since 0.1.0
 */
export interface ToolMeta extends Schema.Schema.Type<typeof ToolMeta> {}

/**
 * The `_meta` of a tool that has a page, or that is not for everybody; for the `meta` of its contract.
 *
 * **Example** (A tool with a page)
 *
 * ```ts
 * import { Apps, Tool } from "@mcpfx/schema"
 *
 * const Weather = Tool.make("weather", { meta: Apps.toolMeta({ resourceUri: "ui://weather/page" }) })
 * Apps.ofTool(Tool.toDescriptor(Weather)).page // => "ui://weather/page"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const toolMeta = (
  options: {
    readonly resourceUri?: string | undefined
    readonly visibility?: ReadonlyArray<Audience> | undefined
  }
): JsonObject => ({
  ui: {
    ...(options.resourceUri === undefined ? undefined : { resourceUri: options.resourceUri }),
    ...(options.visibility === undefined ? undefined : { visibility: options.visibility })
  }
})

const decodeToolMeta = Schema.decodeUnknownOption(ToolMeta)
const decodePageMeta = Schema.decodeUnknownOption(PageMeta)

/** The key that tools were given before `_meta.ui`. */
const formerKey = "ui/resourceUri"

/**
 * What is known of a tool's page and of who may call it.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolUi {
  /** The URI of the page; `undefined` where there is none. */
  readonly page: string | undefined
  /** Whether the model may see and call the tool (APP-04). */
  readonly forModel: boolean
  /** Whether pages of the same server may call it (APP-04). */
  readonly forApp: boolean
}

/**
 * What a listed tool says about its page. What cannot be read counts as not said, but a visibility that cannot be read is
 * nobody's: a tool is not shown to a model because its server made a mistake.
 *
 * @category getters
 * @since 0.1.0
 */
export const ofTool = (tool: { readonly _meta?: JsonObject | undefined }): ToolUi => {
  const own = tool._meta?.["ui"]
  const meta = Option.getOrUndefined(decodeToolMeta(own))
  const former = tool._meta?.[formerKey]
  const uri = meta?.resourceUri ?? (typeof former === "string" ? former : undefined)
  const visibility = meta === undefined && own !== undefined ? [] : meta?.visibility ?? ["model", "app"]
  return {
    page: uri?.startsWith(scheme) === true ? uri : undefined,
    forModel: visibility.includes("model"),
    forApp: visibility.includes("app")
  }
}

/**
 * What a page says about itself; nothing where it does not, or in a way that cannot be read.
 *
 * @category getters
 * @since 0.1.0
 */
export const ofPage = (contents: { readonly _meta?: JsonObject | undefined }): PageMeta =>
  Option.getOrElse(decodePageMeta(contents._meta?.["ui"]), () => ({}))

/**
 * Whether a type is that of pages, however it is spaced or quoted.
 *
 * @category guards
 * @since 0.1.0
 */
export const isPageType = (type: string | undefined): boolean =>
  type?.toLowerCase().replaceAll(/[\s"]/g, "") === mimeType

/**
 * Whether a client that declared `self` shows pages.
 *
 * @category getters
 * @since 0.1.0
 */
export const shownBy = (self: Capabilities.Client): boolean => {
  const settings = Result.getOrElse(Extension_.ofClient(Extension, self), () => Option.none())
  return Option.isSome(settings) && settings.value.mimeTypes.some(isPageType)
}

/** An origin as a policy may name it: a scheme and a host, perhaps with a wildcard below it, and a port. Nothing else. */
const origin = /^(?:https?|wss?):\/\/(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?\/?$/

const sources = (own: ReadonlyArray<string>, declared: ReadonlyArray<string> | undefined): string => {
  const all = [...own, ...(declared ?? []).filter((one) => origin.test(one))]
  return all.length === 0 ? "'none'" : all.join(" ")
}

/**
 * The Content Security Policy for a page (APP-03): what it declared and no more. Declared origins that are none, or that
 * would end a directive and begin another, are left out.
 *
 * **Example** (A page that loads nothing)
 *
 * ```ts
 * import { Apps } from "@mcpfx/schema"
 *
 * Apps.policy({}).includes("connect-src 'none'") // => true
 * const policy = Apps.policy({ csp: { connectDomains: ["https://a.example", "*; script-src *"] } })
 * policy.includes("connect-src https://a.example;") // => true
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const policy = ({ csp = {} }: PageMeta): string => {
  const { baseUriDomains, connectDomains, frameDomains, resourceDomains } = csp
  return [
    "default-src 'none'",
    `script-src ${sources(["'self'", "'unsafe-inline'"], resourceDomains)}`,
    `style-src ${sources(["'self'", "'unsafe-inline'"], resourceDomains)}`,
    `img-src ${sources(["'self'", "data:"], resourceDomains)}`,
    `font-src ${sources(["'self'"], resourceDomains)}`,
    `media-src ${sources(["'self'", "data:"], resourceDomains)}`,
    `connect-src ${sources([], connectDomains)}`,
    `frame-src ${sources([], frameDomains)}`,
    "object-src 'none'",
    `base-uri ${sources(["'self'"], baseUriDomains)}`
  ].join("; ")
}

const features = [
  ["camera", "camera"],
  ["microphone", "microphone"],
  ["geolocation", "geolocation"],
  ["clipboardWrite", "clipboard-write"]
] as const

/**
 * What a page would like its frame to allow, as the frame's `allow` attribute has it. A host need not allow it.
 *
 * @category getters
 * @since 0.1.0
 */
export const allow = ({ permissions = {} }: PageMeta): string =>
  features.flatMap(([wish, feature]) => permissions[wish] === undefined ? [] : [feature]).join("; ")
