/** The client put together from its parts: one connection, and all that goes over it. */
import * as Methods from "@mcpfx/schema/Methods"
import * as Revisions from "@mcpfx/schema/Revisions"
import * as JsonSchemaValidator from "@mcpfx/session/JsonSchemaValidator"
import * as SessionLimits from "@mcpfx/session/SessionLimits"
import { ClientTransport } from "@mcpfx/transport/ClientTransport"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { AskContext } from "../AskContext.ts"
import * as ClientHandlers from "../ClientHandlers.ts"
import type { ClientOptions } from "../ClientOptions.ts"
import * as Connection from "../Connection.ts"
import * as InputDriver from "../InputDriver.ts"
import type { McpClient } from "../McpClient.ts"
import type { McpClientError } from "../McpClientError.ts"
import * as Notifications from "../Notifications.ts"
import * as ResponseCache from "../ResponseCache.ts"
import * as Subscriptions from "../Subscriptions.ts"
import * as Calls from "./calls.ts"
import * as Extensions from "./extensions.ts"
import * as Heartbeat from "./heartbeat.ts"
import * as Listening from "./listening.ts"
import * as Lists from "./lists.ts"
import { LogLevel } from "./logs.ts"
import * as Oddities from "./oddities.ts"
import * as Reads from "./reads.ts"
import * as Requests from "./requests.ts"
import * as TaskCalls from "./taskCalls.ts"
import * as TaskReceiver from "./taskReceiver.ts"

export const make = Effect.fnUntraced(function*(
  options: ClientOptions = {}
): Effect.fn.Return<McpClient["Service"], McpClientError, ClientTransport | Scope.Scope> {
  const handlers = yield* ClientHandlers.current
  const extensions = yield* Extensions.current
  const declared = ClientHandlers.declared(handlers, options.capabilities)
  const validator = yield* JsonSchemaValidator.JsonSchemaValidator
  const limits = yield* SessionLimits.SessionLimits
  const notifications = Notifications.make()
  const cache = ResponseCache.make(options.cacheCapacity)
  const known = new Lists.KnownTools()
  const logLevel = new LogLevel()
  const odd = Oddities.make()
  const transport = yield* ClientTransport
  const receive = yield* TaskReceiver.make(options.tasks)
  let latest: Connection.Live | undefined
  const server = () => ({ target: transport.target, info: latest?.info })
  const facts = (method: string) => factsOf(method, server(), latest)
  const connection = yield* Connection.make({
    transport,
    handler: receive(
      extensions.around(ClientHandlers.make({ handlers, notifications, server }), facts, () => latest)
    ),
    declared,
    declaredOn: (declared, revision) =>
      TaskCalls.declaredOn(extensions.declaredOn(declared, revision), revision, options.tasks),
    options,
    prepare: (live) => {
      latest = live
      cache.clear()
      known.clear()
      return logLevel.restore(live)
    }
  })
  const requests = Requests.make(connection, logLevel, options, extensions)
  const lists = Lists.make({ connection, requests, cache, known, odd, options })
  const inRounds = InputDriver.make({ connection, handlers, declared, notifications, limits, options })
  const waits = TaskCalls.waitsOf({ connection, handlers, declared, notifications, limits, options, requests })
  const calls = Calls.make({ connection, requests, inRounds, lists, known, validator, odd, options, waits })
  const tasks = TaskCalls.make({ connection, requests, lists, known, options, waits, calls })
  const reads = Reads.make(requests, cache, inRounds)
  const timeout = Duration.fromInputUnsafe(options.timeout ?? limits.requestTimeout)
  const subscriptions = Subscriptions.make(connection, notifications, timeout)
  yield* forgetOn(notifications, lists, cache)
  yield* extensions.listen(notifications, facts)
  yield* tellOfRoots(handlers, () => latest)
  if (options.lazy !== true) yield* connection.live

  return {
    server: Effect.map(connection.live, (live) => ({
      revision: live.revision,
      info: live.info,
      capabilities: live.capabilities,
      instructions: live.instructions,
      extensions: extensions.shared(live)
    })),
    call: calls.call,
    callTool: calls.callTool,
    ...tasks,
    tools: lists.tools,
    resources: lists.resources,
    resourceTemplates: lists.resourceTemplates,
    prompts: lists.prompts,
    read: reads.read,
    readResource: reads.readResource,
    prompt: reads.prompt,
    getPrompt: reads.getPrompt,
    complete: reads.complete,
    setLogLevel: (level) => logLevel.set(requests, level),
    ping: connection.use(Methods.Ping.name, (live) => Heartbeat.ping(live, { timeout: options.timeout })),
    subscribe: subscriptions.subscribe,
    logs: notifications.stream(Methods.LoggingMessage),
    notifications: notifications.stream,
    request: requests.request,
    requestRaw: requests.requestRaw,
    notifyRaw: requests.notifyRaw
  }
})

/** Who asks, where no request of the client is the reason. */
const factsOf = (method: string, server: AskContext["Service"]["server"], live: Connection.Live | undefined) => ({
  server,
  revision: (live?.revision ?? Revisions.newest).version,
  method,
  during: undefined,
  round: 1
})

/** A notification about a list or a resource drops what it makes stale (CCH-06). */
const forgetOn = (
  notifications: Notifications.Notifications,
  lists: Lists.Lists,
  cache: ResponseCache.ResponseCache
) =>
  Effect.all([
    ...Listening.kinds.map((kind) => notifications.listen(Listening.announcements[kind], () => lists.changed(kind))),
    notifications.listen(Methods.ResourcesUpdated, ({ uri }) => cache.invalidate({ kind: "resource", uri }))
  ], { discard: true })

/** A change of the roots is told where a session is open that has a word for it (ROO-02); others ask when they want to know. */
const tellOfRoots = (
  { roots }: ClientHandlers.ClientHandlers,
  latest: () => Connection.Live | undefined
): Effect.Effect<void, never, Scope.Scope> =>
  roots?.changes === undefined ? Effect.void : roots.changes.pipe(
    Stream.runForEach(() =>
      Effect.suspend(() => {
        const live = latest()
        return live === undefined || live.over()
          ? Effect.void
          : Effect.ignore(live.session.peer.notify(Methods.RootsListChanged, {}))
      })
    ),
    Effect.forkScoped({ startImmediately: true }),
    Effect.asVoid
  )
