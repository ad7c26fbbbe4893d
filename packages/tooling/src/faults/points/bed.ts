/** A server over stores that fail, a client over a transport that fails, and the same without failures. */
import { ClientElicitation, type ClientOptions, McpClient, type McpClientError, Negotiation } from "@mcpfx/client"
import type { Revision } from "@mcpfx/schema"
import { type McpServer, TaskStore } from "@mcpfx/server"
import { SessionStore } from "@mcpfx/session"
import { TestHttp } from "@mcpfx/testing"
import { ClientTransport, EventStore, Memory, StreamableHttpClient } from "@mcpfx/transport"
import { Context, Duration, Effect, Layer, type Scope } from "effect"
import { HttpClient } from "effect/http"
import { type Server, start } from "../machine/server.ts"
import type { FaultPoints } from "./faultPoints.ts"
import * as Ports from "./ports.ts"
import { registrations } from "./tools.ts"

export type Transport = "memory" | "http"

const options: McpServer.Options = {
  name: "bed",
  version: "0.0.0",
  pageSize: 3,
  // Nothing outlives what a test waits for its end.
  limits: { taskTtl: Duration.minutes(20) }
}

const stores = Layer.mergeAll(SessionStore.layerMemory, TaskStore.layerMemory, EventStore.layerMemory)

export class Bed {
  readonly points: FaultPoints
  readonly transport: Transport
  readonly running: Set<string>
  private readonly serve: Effect.Effect<Server>
  server: Server

  constructor(
    points: FaultPoints,
    transport: Transport,
    running: Set<string>,
    serve: Effect.Effect<Server>,
    server: Server
  ) {
    this.points = points
    this.transport = transport
    this.running = running
    this.serve = serve
    this.server = server
  }

  /** A client whose waits may go wrong, until the scope closes. */
  client(
    version: Revision.Version,
    options: ClientOptions.ClientOptions = {}
  ): Effect.Effect<McpClient.McpClient["Service"], McpClientError.McpClientError, Scope.Scope> {
    const answers = ClientElicitation.layerForm(() =>
      this.points.at("a question is answered", Effect.succeed(ClientElicitation.accept({ name: "x" })), undefined)
    )
    return this.connected(
      version,
      { tasks: true, ...options },
      answers,
      Effect.map(this.way(true), (way) => Ports.transport(this.points, way))
    )
  }

  /** Whether somebody who comes now is served. */
  fresh(version: Revision.Version): Effect.Effect<void, McpClientError.McpClientError> {
    return Effect.scoped(Effect.flatMap(
      this.connected(version, {}, Layer.empty, this.way(false)),
      (client) => client.callTool("add")
    ))
  }

  private connected(
    version: Revision.Version,
    options: ClientOptions.ClientOptions,
    answers: Layer.Layer<never>,
    way: Effect.Effect<ClientTransport.ClientTransport["Service"]>
  ) {
    return Effect.gen(function*() {
      const eras = Layer.succeed(Negotiation.CurrentEraCache, Negotiation.makeEraCache())
      const layer = McpClient.layer({ revisions: [version], reconnect: true, ...options }).pipe(
        Layer.provide([answers, eras, Layer.succeed(ClientTransport.ClientTransport, yield* way)])
      )
      return Context.get(yield* Layer.build(layer), McpClient.McpClient)
    })
  }

  private way(faulty: boolean): Effect.Effect<ClientTransport.ClientTransport["Service"]> {
    return Effect.suspend(() => {
      if (this.transport === "memory") {
        const inner = Memory.transport({
          handle: (exchange) => this.server.endpoint.handle(exchange),
          admitBatch: (messages, facts) => this.server.endpoint.admitBatch(messages, facts),
          attach: (facts, link) => this.server.endpoint.attach(facts, link),
          terminate: (facts) => this.server.endpoint.terminate(facts)
        })
        return Effect.succeed(inner)
      }
      const client = TestHttp.clientOf((request) => this.server.handler(request))
      return Effect.provideService(
        StreamableHttpClient.make({ url: "http://localhost/mcp" }),
        HttpClient.HttpClient,
        faulty ? Ports.http(this.points, client) : client
      )
    })
  }

  /** The server goes, and another one comes. */
  readonly restart: Effect.Effect<void> = Effect.suspend(() =>
    Effect.andThen(
      this.server.close,
      Effect.map(this.serve, (server) => {
        this.server = server
      })
    )
  )
}

/** A bed, whose stores live as long as the scope. */
export const make = Effect.fnUntraced(function*(points: FaultPoints, transport: Transport) {
  const kept = yield* Layer.build(stores)
  const faulty = Context.make(
    SessionStore.SessionStore,
    Ports.sessionStore(points, Context.get(kept, SessionStore.SessionStore))
  ).pipe(
    Context.add(TaskStore.TaskStore, Ports.taskStore(points, Context.get(kept, TaskStore.TaskStore))),
    Context.add(EventStore.EventStore, Ports.eventStore(points, Context.get(kept, EventStore.EventStore)))
  )
  const running = new Set<string>()
  const serve = start({
    registrations: registrations(points, running),
    options,
    running: () => running,
    stores: faulty,
    between: Ports.endpoint(points)
  })
  return new Bed(points, transport, running, serve, yield* serve)
})
