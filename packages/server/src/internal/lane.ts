/**
 * What the dispatcher keeps for one revision: how its methods are read and written, which of them exist at the moment, and
 * the answers that are the same for everybody.
 */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import type * as Method from "@mcpfx/schema/Method"
import type { InvalidShape, RequestCodec, Revision } from "@mcpfx/schema/Revision"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Discover from "../Discover.ts"
import type { MethodEntry, RequestServices } from "../Entry.ts"
import type { Registry, Snapshot } from "../Registry.ts"
import type { Settings } from "./settings.ts"

export type Request = RequestContext["Service"]
export type Answer = Effect.Effect<JsonRpc.ResultBody, McpError.McpError>

/** Reads the params of one request, answers it and writes the result. */
export type Route = (request: JsonRpc.Request, context: Request) => Answer

/** One method as a revision has it. */
export interface Wire<out Params, in Result_> {
  readonly decode: (request: JsonRpc.Request) => Result.Result<Params, McpError.McpError>
  readonly encode: (result: Result_) => JsonRpc.JsonObject
}

/** A request that has been read, and what it leads to. */
type Answered = Effect.Effect<JsonRpc.JsonObject, McpError.McpError, RequestServices>

const noParams: JsonRpc.JsonObject = {}

const invalidParams = (shape: InvalidShape): McpError.McpError =>
  new McpError.InvalidParams({ detail: shape.message() })

/** Whether there is a stream to announce things on: stateless HTTP has none on the revisions with sessions. */
export const pushesTo = (settings: Settings, context: Request): boolean =>
  context.revision.era === "modern" || settings.sessions === "stateful" || context.facts.transport !== "http"

/** The lanes of one revision differ in whether there is a stream to announce things on. */
export class Lane {
  readonly revision: Revision
  readonly settings: Settings
  readonly pushes: boolean
  private readonly registry: Registry["Service"]
  private readonly all = new Map<string, Route>()
  private readonly open = new Map<string, Route>()
  /** Makes the routes of methods that are not the protocol's own. */
  private custom: ((entry: MethodEntry) => Route | undefined) | undefined = undefined
  private readonly kept = new Map<string, JsonRpc.EncodedResult>()
  private readonly serverMeta: JsonRpc.JsonObject
  private version = -1
  private current: Discover.Offer

  constructor(revision: Revision, settings: Settings, registry: Registry["Service"], pushes: boolean) {
    this.revision = revision
    this.settings = settings
    this.registry = registry
    this.pushes = pushes
    this.current = Discover.offer(settings, registry.snapshot(), pushes, revision)
    this.serverMeta = Object.freeze({ [MetaKey.serverInfo]: settings.info })
  }

  /** Adds a method, if this revision has it. How it is read and written is made when it is first called. */
  add<Name extends string, Params, Result_>(
    method: Method.RequestMethod<Name, Params, Result_>,
    route: (wire: Wire<Params, Result_>) => Route
  ): void {
    const { name } = method
    const sender = this.revision.requests.get(name)
    if (sender === undefined || sender === "server") return
    const first: Route = (request, context) => {
      const codec = this.revision.request(method)
      if (codec === undefined) return Effect.fail(new McpError.MethodNotFound({ method: name }))
      const made = route(this.wireOf(codec))
      this.all.set(name, made)
      if (this.open.get(name) === first) this.open.set(name, made)
      return made(request, context)
    }
    this.all.set(name, first)
  }

  private wireOf<Params, Result_>(codec: RequestCodec<Params, Result_>): Wire<Params, Result_> {
    return {
      decode: (request) => Result.mapError(codec.decodeParams(request.params ?? noParams), invalidParams),
      // The identity of the server stands on every result of 2026-07-28 (META-10).
      encode: this.revision.era === "modern"
        ? (result) => this.identified(codec.encodeResult(result))
        : codec.encodeResult
    }
  }

  /** Adds whatever else is registered, as long as it is. */
  addCustom(route: (entry: MethodEntry, wire: Wire<Answered, JsonRpc.JsonObject>) => Route): void {
    const routes = new WeakMap<MethodEntry, Route>()
    const modern = this.revision.era === "modern"
    this.custom = (entry) => {
      const known = routes.get(entry)
      if (known !== undefined) return known
      const answering = entry.on(this.revision)
      if (answering === undefined) return undefined
      const made = route(entry, {
        decode: (request) => Result.mapError(answering(request.params ?? noParams), invalidParams),
        encode: modern ? (result) => this.identified(result) : (result) => result
      })
      routes.set(entry, made)
      return made
    }
  }

  /** The route of a method that exists and is offered now (RPC-24). */
  route(method: string): Route | undefined {
    this.snapshot()
    return this.open.get(method)
  }

  /** What is offered now. */
  offer(): Discover.Offer {
    this.snapshot()
    return this.current
  }

  /** What is registered now; drops what was kept of an older state. */
  snapshot(): Snapshot {
    const snapshot = this.registry.snapshot()
    if (snapshot.version === this.version) return snapshot
    this.version = snapshot.version
    this.current = Discover.offer(this.settings, snapshot, this.pushes, this.revision)
    this.kept.clear()
    this.open.clear()
    for (const [method, route] of this.all) {
      if (Discover.hasMethod(this.current, this.revision, method)) this.open.set(method, route)
    }
    for (const entry of snapshot.methods) {
      const route = this.custom?.(entry)
      if (route !== undefined) this.open.set(entry.name, route)
    }
    return snapshot
  }

  /** A result that is the same for everybody until something is registered: written once. */
  keep(key: string, make: () => JsonRpc.JsonObject): JsonRpc.EncodedResult {
    const known = this.kept.get(key)
    if (known !== undefined) return known
    const made = new JsonRpc.EncodedResult(JSON.stringify(make()))
    this.kept.set(key, made)
    return made
  }

  private identified(result: JsonRpc.JsonObject): JsonRpc.JsonObject {
    const meta = result["_meta"]
    return { ...result, _meta: JsonRpc.isJsonObject(meta) ? { ...meta, ...this.serverMeta } : this.serverMeta }
  }
}
