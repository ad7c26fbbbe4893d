/**
 * Pages of tools, for hosts: which tool has one, what it holds, and what it may do.
 *
 * A page comes from outside. A host shows it in a sandboxed frame, on the web behind another origin, under {@link View.policy}
 * or something stricter (APP-03), and shows the model no tool that is not for it (APP-04).
 *
 * @since 0.1.0
 */
import * as Apps from "@mcpfx/schema/Apps"
import type { JsonObject } from "@mcpfx/schema/JsonRpc"
import type * as Tool from "@mcpfx/schema/Tool"
import type { RequestOptions } from "@mcpfx/session/Peer"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as ClientExtension from "./ClientExtension.ts"
import { McpClient } from "./McpClient.ts"
import { BadAnswer, fail, type McpClientError, NotOffered } from "./McpClientError.ts"

/**
 * Announces that this client shows pages (APP-02). The layer stands beneath that of the client.
 *
 * **Example** (A host that shows pages)
 *
 * ```ts
 * import { ClientApps, McpClient } from "@mcpfx/client"
 * import { Layer } from "effect"
 *
 * const Live = McpClient.layer().pipe(Layer.provide(ClientApps.layer))
 * Layer.isLayer(Live) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never> = ClientExtension.layer(Apps.Extension, {
  settings: { mimeTypes: [Apps.mimeType] }
})

/**
 * A page, ready for a frame.
 *
 * @category models
 * @since 0.1.0
 */
export interface View {
  readonly uri: string
  readonly html: string
  readonly meta: Apps.PageMeta
  /** The Content Security Policy to show it under: what it declared and no more. */
  readonly policy: string
  /** What it would like its frame to allow. */
  readonly allow: string
}

const htmlOf = (contents: { readonly text: string } | { readonly blob: string }): string | undefined =>
  "text" in contents ? contents.text : Result.getOrUndefined(Base64.decodeString(contents.blob))

/**
 * The page of a tool; none where it has none. Read when it is asked for. A page of another type is `BadAnswer`.
 *
 * @category getters
 * @since 0.1.0
 */
export const view = Effect.fn("ClientApps.view")(function*(
  tool: Pick<Tool.Descriptor, "_meta">
): Effect.fn.Return<Option.Option<View>, McpClientError, McpClient> {
  const { page: uri } = Apps.ofTool(tool)
  if (uri === undefined) return Option.none()
  const client = yield* McpClient
  const { contents } = yield* client.readResource(uri)
  const found = contents.find((one) => Apps.isPageType(one.mimeType))
  const html = found === undefined ? undefined : htmlOf(found)
  if (found === undefined || html === undefined) {
    return yield* fail(new BadAnswer({ detail: `${uri} holds no page of type ${Apps.mimeType}` }))
  }
  const meta = Apps.ofPage(found)
  return Option.some({ uri, html, meta, policy: Apps.policy(meta), allow: Apps.allow(meta) })
})

/**
 * The tools that a model may be shown (APP-04).
 *
 * @category getters
 * @since 0.1.0
 */
export const forModel = <T extends Pick<Tool.Descriptor, "_meta">>(tools: ReadonlyArray<T>): ReadonlyArray<T> =>
  tools.filter((tool) => Apps.ofTool(tool).forModel)

/**
 * Calls a tool on behalf of a page of this server. Tools that are not listed, and those that are not for pages, are
 * `NotOffered`, and nothing is sent (APP-04).
 *
 * @category combinators
 * @since 0.1.0
 */
export const callTool = Effect.fn("ClientApps.callTool")(function*(
  name: string,
  args?: JsonObject,
  options?: RequestOptions
): Effect.fn.Return<Tool.CallResult, McpClientError, McpClient> {
  const client = yield* McpClient
  const tool = (yield* client.tools).find((one) => one.name === name)
  if (tool === undefined || !Apps.ofTool(tool).forApp) return yield* fail(new NotOffered({ what: name }))
  return yield* client.callTool(name, args, options)
})
