/**
 * Requests to the HTTP endpoint in this very process: from Effect's request to Effect's response. What Node and the adapter of
 * Effect do before and after is left out.
 */
import type { Endpoint } from "@mcpfx/transport/Endpoint"
import { Endpoint as EndpointService } from "@mcpfx/transport/Endpoint"
import * as StreamableHttpServer from "@mcpfx/transport/StreamableHttpServer"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Headers from "effect/http/Headers"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Messages from "../messages.ts"
import type { Probe } from "./probe.ts"

type Listener = (chunk: Uint8Array) => void

/** The part of a request of Node that is read: says what it has as soon as somebody listens. */
export class Source {
  readonly readableFlowing = null
  readonly readableEncoding = null
  readonly readableEnded = false
  readonly destroyed = false
  private readonly bytes: Uint8Array
  private onData: Listener | undefined = undefined
  private onEnd: Listener | undefined = undefined

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  on(event: string, listener: Listener): this {
    if (event === "data") this.onData = listener
    if (event === "end") this.onEnd = listener
    return this
  }

  off(): this {
    return this
  }

  emit(): void {
    const { bytes, onEnd } = this
    this.onData?.(bytes)
    onEnd?.(bytes)
  }
}

const utf8 = new TextEncoder()
const model = HttpServerRequest.fromWeb(new Request("http://127.0.0.1/mcp", { method: "POST" }))

/** The headers of a request, as Node has read them. */
export const headersOf = (template: Messages.Template, session?: string): Record<string, string> => ({
  host: "127.0.0.1:3000",
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "content-length": "100",
  "mcp-protocol-version": template.version,
  ...(session !== undefined && { "mcp-session-id": session }),
  ...(template.version === "2026-07-28" && {
    "mcp-method": template.method,
    ...(template.name !== undefined && { "mcp-name": template.name })
  })
})

/** A request whose body comes when its source is told to emit. */
export const requestOf = (
  headers: Headers.Headers,
  body: Uint8Array
): { readonly request: HttpServerRequest.HttpServerRequest; readonly source: Source } => {
  const source = new Source(body)
  const request: HttpServerRequest.HttpServerRequest = Object.create(model, {
    source: { value: source },
    headers: { value: headers },
    method: { value: "POST" },
    url: { value: "/mcp" },
    modify: {
      value: (changes: { readonly headers?: Headers.Headers }) =>
        Object.create(request, changes.headers === undefined ? {} : { headers: { value: changes.headers } })
    }
  })
  return { request, source }
}

export interface Answered {
  readonly response: HttpServerResponse.HttpServerResponse
  readonly text: string
}

/** Sends requests to an endpoint. */
export class Caller {
  private readonly app: StreamableHttpServer.HttpEndpoint["app"]
  readonly context: Context.Context<never>

  constructor(app: StreamableHttpServer.HttpEndpoint["app"], context: Context.Context<never>) {
    this.app = app
    this.context = context
  }

  /** Starts a request; `done` is called when it is answered, `failed` when it is not. */
  start(
    headers: Headers.Headers,
    body: Uint8Array,
    done: (response: HttpServerResponse.HttpServerResponse) => void,
    failed: (cause: Cause.Cause<unknown>) => void
  ): void {
    const { request, source } = requestOf(headers, body)
    const scope = Scope.makeUnsafe()
    const context = Context.add(
      Context.add(this.context, HttpServerRequest.HttpServerRequest, request),
      Scope.Scope,
      scope
    )
    const fiber = Effect.runForkWith(context)(this.app)
    source.emit()
    const settle = (exit: Exit.Exit<HttpServerResponse.HttpServerResponse, unknown>): void => {
      if (Exit.isSuccess(exit)) done(exit.value)
      else failed(exit.cause)
    }
    const exit = fiber.pollUnsafe()
    if (exit === undefined) fiber.addObserver(settle)
    else settle(exit)
  }

  async call(headers: Record<string, string>, body: string): Promise<Answered> {
    const response = await new Promise<HttpServerResponse.HttpServerResponse>((resolve, reject) =>
      this.start(Headers.fromInput(headers), utf8.encode(body), resolve, (cause) => reject(Cause.squash(cause)))
    )
    return { response, text: await textOf(response) }
  }
}

/** Reads a response to its end. */
export const textOf = async ({ body }: HttpServerResponse.HttpServerResponse): Promise<string> => {
  if (body._tag === "Uint8Array") return new TextDecoder().decode(body.body)
  return body._tag === "Stream" ? Effect.runPromise(Stream.mkString(Stream.decodeText(body.stream))) : ""
}

/** An HTTP endpoint in front of the one given, until the scope closes. */
export const makeCaller = (
  endpoint: Endpoint["Service"],
  options: StreamableHttpServer.Options = {}
): Effect.Effect<Caller, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { app } = yield* Effect.provideService(StreamableHttpServer.make(options), EndpointService, endpoint)
    return new Caller(app, yield* Effect.context<never>())
  })

/** Opens a session, and gives its id. */
export const openSession = async (caller: Caller, added: Record<string, string> = {}): Promise<string> => {
  const { "mcp-protocol-version": _, ...bare } = headersOf(Messages.list)
  const { response } = await caller.call({ ...bare, ...added }, Messages.initialize)
  const session = response.headers["mcp-session-id"]
  if (session === undefined) throw new Error(`no session: ${response.status}`)
  await caller.call({ ...headersOf(Messages.list, session), ...added }, Messages.initialized)
  return session
}

/** One request after the other, the response of each handed to `done` or left alone. */
export const requests = (
  caller: Caller,
  headers: Headers.Headers,
  body: (id: number) => string,
  read = false
): Probe => {
  const bodies = Array.from({ length: 64 }, (_, index) => utf8.encode(body(index + 1)))
  const first = bodies[0] ?? new Uint8Array()
  const ignore = (): void => {}
  const fail = (cause: Cause.Cause<unknown>): never => {
    throw Cause.squash(cause)
  }
  return {
    run: (times) => {
      if (!read) {
        for (let index = 0; index < times; index++) caller.start(headers, bodies[index % 64] ?? first, ignore, fail)
        return
      }
      return (async () => {
        for (let index = 0; index < times; index++) {
          await new Promise<void>((resolve) => {
            const end = (response: HttpServerResponse.HttpServerResponse) => void textOf(response).then(() => resolve())
            caller.start(headers, bodies[index % 64] ?? first, end, fail)
          })
        }
      })()
    }
  }
}
