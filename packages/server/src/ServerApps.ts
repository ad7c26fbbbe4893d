/**
 * Tools with pages, as layers: the page is a resource, the tool names it, and the extension is announced.
 *
 * A tool gives a meaningful `content` whether or not its page is shown (APP-06): clients that show none have nothing else.
 *
 * @since 0.1.0
 */
import * as Apps from "@mcpfx/schema/Apps"
import { InvalidContract } from "@mcpfx/schema/InvalidContract"
import * as ResourceContract from "@mcpfx/schema/ResourceContract"
import type * as ToolContract from "@mcpfx/schema/ToolContract"
import { RequestContext } from "@mcpfx/session/RequestContext"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { HandlerServices } from "./Entry.ts"
import { CurrentEnclosing } from "./internal/enclosing.ts"
import type { Registry } from "./Registry.ts"
import type { DuplicateEntry } from "./ServerError.ts"
import * as ServerExtension from "./ServerExtension.ts"
import * as ServerResource from "./ServerResource.ts"
import * as ServerTool from "./ServerTool.ts"

/**
 * What {@link page} takes: how it is listed, what it asks of its host, and what resources take.
 *
 * @category models
 * @since 0.1.0
 */
export interface PageOptions extends Apps.PageMeta, ServerResource.Options {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
}

/**
 * A page and the layer that offers it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Page<out R = never> {
  readonly uri: string
  /** Offers the page as a resource, and announces the extension. */
  readonly layer: Layer.Layer<never, DuplicateEntry, Registry | R>
}

/**
 * Announces the extension, and nothing else. Pages do so themselves; however many there are, it is announced once.
 * Middleware around a page is not around this.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never, DuplicateEntry, Registry> = Layer.provide(
  ServerExtension.layer(Apps.Extension),
  Layer.succeed(CurrentEnclosing, CurrentEnclosing.defaultValue())
)

const metaOf = ({ csp, domain, permissions, prefersBorder }: PageOptions): Apps.PageMeta => ({
  ...(csp === undefined ? undefined : { csp }),
  ...(permissions === undefined ? undefined : { permissions }),
  ...(domain === undefined ? undefined : { domain }),
  ...(prefersBorder === undefined ? undefined : { prefersBorder })
})

/**
 * A page: its `ui://` URI, what it may reach and would like to be allowed, and its HTML, or an effect that gives it. Left
 * out, nothing may be reached. Another scheme is an `InvalidContract`.
 *
 * **Example** (A page and its tool)
 *
 * ```ts
 * import { Tool } from "@mcpfx/schema"
 * import { ServerApps } from "@mcpfx/server"
 * import { Effect, Layer, Schema } from "effect"
 *
 * const Dashboard = ServerApps.page(
 *   "ui://weather/dashboard",
 *   { name: "dashboard", csp: { connectDomains: ["https://api.weather.example"] }, prefersBorder: true },
 *   "<!doctype html><title>Weather</title>"
 * )
 * const Weather = Tool.make("weather", { input: { city: Schema.String }, output: { celsius: Schema.Finite } })
 * const WeatherLive = ServerApps.tool(Weather, Dashboard, () => Effect.succeed({ celsius: 21 }))
 * Layer.isLayer(WeatherLive) // => true
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const page = <R = never>(
  uri: string,
  options: PageOptions,
  html: string | Effect.Effect<string, ServerResource.Failed, R>
): Page<Exclude<R, HandlerServices>> => {
  if (!uri.startsWith(Apps.scheme)) {
    throw new InvalidContract({ kind: "resource", name: uri, reason: `the URI of a page begins with ${Apps.scheme}` })
  }
  const ui = metaOf(options)
  const meta = Object.keys(ui).length === 0 ? undefined : { ui }
  const contract = ResourceContract.make(uri, {
    name: options.name,
    title: options.title,
    description: options.description,
    mimeType: Apps.mimeType,
    meta
  })
  const contents = Effect.map(
    Effect.isEffect(html) ? html : Effect.succeed(html),
    (text) => meta === undefined ? { text } : { text, _meta: meta }
  )
  return { uri, layer: Layer.merge(layer, ServerResource.resource(contract, contents, options)) }
}

/**
 * What {@link tool} takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolOptions extends ServerTool.Options {
  /** Who may call the tool: the model and pages by default. */
  readonly visibility?: ReadonlyArray<Apps.Audience> | undefined
}

/** Who shows no pages would show the model what is for pages alone. */
const forPages = (visible: ToolOptions["visible"]): ToolOptions["visible"] => (context) =>
  Apps.shownBy(context.clientCapabilities) && (visible === undefined || visible(context))

/**
 * Offers a tool with its page while the layer is open: `ServerTool.tool`, listed with the URI of the page. The page is offered
 * with it, once, however many tools have it. A tool for pages alone is not there for clients that show none.
 *
 * @category layers
 * @since 0.1.0
 */
export const tool = <Name extends string, Input, Output, Failure, RPage = never, R = never>(
  contract: ToolContract.Contract<Name, Input, Output, Failure>,
  page: Page<RPage>,
  handler: (
    input: NoInfer<Input>
  ) => Effect.Effect<ServerTool.Returned<NoInfer<Output>>, ServerTool.Failed<NoInfer<Failure>>, R>,
  options: ToolOptions = {}
): Layer.Layer<never, DuplicateEntry, Registry | RPage | Exclude<R, HandlerServices>> => {
  const { meta, visibility, visible } = options
  return Layer.merge(
    page.layer,
    ServerTool.tool(contract, handler, {
      ...options,
      visible: visibility === undefined || visibility.includes("model") ? visible : forPages(visible),
      meta: { ...meta, ...Apps.toolMeta({ resourceUri: page.uri, visibility }) }
    })
  )
}

/**
 * Whether the client of this request shows pages: for tools that say more to clients that do not.
 *
 * @category getters
 * @since 0.1.0
 */
export const isShown: Effect.Effect<boolean, never, RequestContext> = Effect.map(
  RequestContext,
  ({ clientCapabilities }) => Apps.shownBy(clientCapabilities)
)
