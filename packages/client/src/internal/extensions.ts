/** The extensions and the methods of its own that a client has, found in the context it is built with. */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import type * as Method from "@mcpfx/schema/Method"
import type { Revision } from "@mcpfx/schema/Revision"
import { SchemaMismatch } from "@mcpfx/schema/SchemaMismatch"
import type * as Handler from "@mcpfx/session/Handler"
import { MethodUnsupported } from "@mcpfx/session/SessionError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { AskContext } from "../AskContext.ts"
import type { ServerFacts } from "../Connection.ts"
import { UnfitAnswer } from "../McpClientError.ts"
import type { Notifications } from "../Notifications.ts"

type Facts = AskContext["Service"]
type Answer = Effect.Effect<JsonRpc.JsonObject, McpError.McpError>

/** Answers a request of the server that is not the protocol's own. */
export interface Answering {
  readonly method: string
  /** `undefined` where the revision does not have it. */
  readonly answer: (params: JsonRpc.JsonObject | undefined, revision: Revision, facts: Facts) => Answer | undefined
}

/** Hears a notification of the server for as long as the scope is open. */
export type Hearing = (
  notifications: Notifications,
  facts: (method: string) => Facts
) => Effect.Effect<void, never, Scope.Scope>

/** What is announced about an extension. */
export interface Announced {
  readonly id: string
  readonly settings: JsonRpc.JsonObject
  readonly existsOn: (revision: Revision) => boolean
  /** Whether clients announce it at all. */
  readonly isSaid: boolean
  /** Whether a server announced it, with settings that can be read. */
  readonly spokenBy: (capabilities: Capabilities.Server) => boolean
  /** The names of its requests. */
  readonly requests: ReadonlyArray<string>
}

/** One registration: found by its class, since every one has a key of its own. */
export class Installed {
  readonly extension: Announced | undefined
  readonly answers: ReadonlyArray<Answering>
  readonly hears: ReadonlyArray<Hearing>
  constructor(
    extension: Announced | undefined,
    answers: ReadonlyArray<Answering>,
    hears: ReadonlyArray<Hearing>
  ) {
    this.extension = extension
    this.answers = answers
    this.hears = hears
  }
}

const prefix = "@mcpfx/client/Installed/"

/** Each registration is a service of its own, so that layers of many stand side by side. */
export const keyOf = (name: string): Context.Service<never, Installed> =>
  Context.Service<never, Installed>(prefix + name)

export const answering = <Name extends string, Params, Result_>(
  method: Method.RequestMethod<Name, Params, Result_>,
  handle: (params: Params, facts: Facts) => Effect.Effect<Result_, McpError.McpError>
): Answering => ({
  method: method.name,
  answer: (wire, revision, facts) => {
    const codec = revision.request(method)
    if (codec === undefined || codec.sender === "client") return undefined
    const params = codec.decodeParams(wire)
    if (Result.isFailure(params)) {
      return Effect.fail(new McpError.InvalidParams({ detail: params.failure.message() }))
    }
    return Effect.flatMap(Effect.suspend(() => handle(params.success, facts)), (value) => {
      const written = Result.try({ try: () => codec.encodeResult(value), catch: (thrown) => thrown })
      if (Result.isSuccess(written)) return Effect.succeed(written.success)
      const { failure } = written
      const problems = [failure instanceof SchemaMismatch ? failure.message() : "it cannot be written"]
      return Effect.die(new UnfitAnswer({ method: method.name, problems }))
    })
  }
})

/** One at a time and in order; a handler that falls behind loses the oldest. */
export const hearing = <Name extends string, Params>(
  method: Method.NotificationMethod<Name, Params>,
  handle: (params: Params, facts: Facts) => Effect.Effect<void>
): Hearing =>
(notifications, facts) =>
  Effect.asVoid(Effect.forkScoped(
    Stream.runForEach(notifications.stream(method), (params) =>
      Effect.catchDefect(
        Effect.suspend(() => handle(params, facts(method.name))),
        (defect) => Effect.logError(`the handler of ${method.name} failed`, defect)
      )),
    { startImmediately: true }
  ))

export interface Extensions {
  /** What the client declares on a revision. */
  readonly declaredOn: (declared: Capabilities.Client, revision: Revision) => Capabilities.Client
  /** Answers what the protocol's own handler does not know. */
  readonly around: (
    inner: Handler.Handler["Service"],
    facts: (method: string) => Facts,
    server: () => ServerFacts | undefined
  ) => Handler.Handler["Service"]
  readonly listen: (
    notifications: Notifications,
    facts: (method: string) => Facts
  ) => Effect.Effect<void, never, Scope.Scope>
  /** Why a request is not sent to this server: it belongs to an extension that the server did not announce (EXT-04). */
  readonly missing: (server: ServerFacts, method: string) => MethodUnsupported | undefined
  /** The extensions that both sides announced. */
  readonly shared: (server: ServerFacts) => ReadonlyArray<string>
}

const make = (installed: ReadonlyArray<Installed>): Extensions => {
  const announced = installed.flatMap(({ extension }) => extension === undefined ? [] : [extension])
  const ownerOf = new Map(announced.flatMap((one) => one.requests.map((name) => [name, one] as const)))
  const answers = new Map(
    installed.flatMap(({ answers, extension }) => answers.map((one) => [one.method, { one, extension }] as const))
  )
  const speaks = (one: Announced, server: ServerFacts): boolean =>
    one.existsOn(server.revision) && one.spokenBy(server.capabilities)

  return {
    declaredOn: (declared, revision) => {
      const here = announced.filter((one) => one.isSaid && one.existsOn(revision))
      return here.length === 0 ? declared : {
        ...declared,
        extensions: { ...declared.extensions, ...Object.fromEntries(here.map(({ id, settings }) => [id, settings])) }
      }
    },
    around: (inner, facts, server) =>
      answers.size === 0 ? inner : {
        ...inner,
        request: (request, context) => {
          const known = answers.get(request.method)
          if (known === undefined) return inner.request(request, context)
          const said = server()
          const refused = known.extension !== undefined && (said === undefined || !speaks(known.extension, said))
          const answer = refused ? undefined : known.one.answer(
            request.params,
            context.revision,
            facts(request.method)
          )
          return answer ?? Effect.fail(new McpError.MethodNotFound({ method: request.method }))
        }
      },
    listen: (notifications, facts) =>
      Effect.forEach(installed.flatMap(({ hears }) => hears), (hear) => hear(notifications, facts), { discard: true }),
    missing: (server, method) => {
      const owner = ownerOf.get(method)
      return owner === undefined || speaks(owner, server)
        ? undefined
        : new MethodUnsupported({ method, revision: server.revision.version })
    },
    shared: (server) => announced.filter((one) => speaks(one, server)).map(({ id }) => id)
  }
}

/** What stands in the context. */
export const current: Effect.Effect<Extensions> = Effect.contextWith((context: Context.Context<never>) =>
  Effect.sync(() => {
    const installed: Array<Installed> = []
    for (const value of context.mapUnsafe.values()) if (value instanceof Installed) installed.push(value)
    return make(installed)
  })
)
