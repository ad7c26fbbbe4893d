import type { Mutation } from "../mutation.ts"

const server = ["transport/test/HttpSseServer.test.ts", "transport/test/HttpSseMessages.test.ts"]
const endpoints = ["server/test/HttpSse.test.ts"]
const transport = ["transport/test/HttpSseClient.test.ts"]
const client = ["client/test/HttpSse.test.ts"]

/** What breaks HTTP+SSE, at either end, and how a client comes to use it. */
export const httpSse: ReadonlyArray<Mutation> = [
  {
    ids: ["SSE-02"],
    file: "transport/src/internal/sseConnection.ts",
    find: "Sse.encode({ event: \"endpoint\", data: uri })",
    replace: "Sse.encode({ data: uri })",
    tests: server
  },
  {
    ids: ["SSE-02"],
    file: "transport/src/internal/sseConnection.ts",
    find: "Sse.encode({ event: \"message\", data: json })",
    replace: "Sse.encode({ event: \"answer\", data: json })",
    tests: server
  },
  {
    ids: ["SEC-06"],
    file: "transport/src/internal/sseStreams.ts",
    find: "connection?.principalKey === principalKeyOf(fiber) ? connection : undefined",
    replace: "connection",
    tests: server
  },
  {
    ids: ["VER-10"],
    file: "transport/src/internal/sseMessages.ts",
    find: "if (claimed !== undefined) return Effect.succeed(failureResponse(400, id, this.unsupported(claimed)))",
    replace: "",
    tests: server
  },
  {
    ids: ["SSE-01"],
    file: "transport/src/HttpSseServer.ts",
    find: "Front.addPath(router, paths.messages ?? defaultMessages, server.messages)",
    replace: "server === undefined ? Front.addPath(router, defaultMessages, server) : Effect.void",
    tests: endpoints
  },
  {
    ids: ["SSE-05"],
    file: "server/src/McpHttp.ts",
    find: "return HttpSseServer.route(server, paths)",
    replace: "return server === undefined ? HttpSseServer.route(server, paths) : Layer.empty",
    tests: endpoints
  },
  {
    ids: ["SSE-02"],
    file: "transport/src/internal/sseClient.ts",
    find: "new URL(data.trim(), from)",
    replace: "new URL(data.trim(), from.origin)",
    tests: transport
  },
  {
    ids: ["HTTP-39"],
    file: "transport/src/internal/sseClient.ts",
    find: "const sessionId = version === undefined ? undefined : this.link.id",
    replace: "const sessionId = undefined",
    tests: transport
  },
  {
    ids: ["VER-16", "SSE-06"],
    file: "client/src/Negotiation.ts",
    find: "new Set([400, 404, 405])",
    replace: "new Set([400, 404, 405, 410])",
    tests: client
  },
  {
    ids: ["VER-16"],
    file: "client/src/Negotiation.ts",
    find: "isModern(error, \"http\") || (status === 404",
    replace: "(status === 404",
    tests: client
  },
  {
    ids: ["VER-15"],
    file: "client/src/internal/handshake.ts",
    find: "Effect.tap(() => Effect.sync(() => options.eras.set(options.transport.target, \"sse\")))",
    replace: "Effect.tap(() => Effect.void)",
    tests: client
  }
]
