import type { Mutation } from "../mutation.ts"

/** What breaks Streamable HTTP, at either end. */
export const http: ReadonlyArray<Mutation> = [
  {
    ids: ["HTTP-01"],
    file: "transport/src/StreamableHttpServer.ts",
    find: "          return Effect.succeed(Front.notAllowed(allow))",
    replace: "          return post.serve(request, fiber)",
    tests: ["transport/test/StreamableHttpServer.test.ts"]
  },
  {
    ids: ["HTTP-03"],
    file: "transport/src/internal/front.ts",
    find: "const response = failureResponse(403, undefined,",
    replace: "const response = failureResponse(400, undefined,",
    tests: ["transport/test/StreamableHttpServer.test.ts"]
  },
  {
    ids: ["HTTP-04"],
    file: "node/src/NodeListener.ts",
    find: "Layer.fromBuild((memoMap, scope) => Layer.buildWithMemoMap(serving, memoMap, scope))",
    replace: "serving",
    tests: ["node/test/listenerStart.test.ts"]
  },
  {
    ids: ["HTTP-10"],
    file: "transport/src/internal/post.ts",
    find: "HttpServerResponse.empty({ status: 202 })",
    replace: "HttpServerResponse.empty({ status: 204 })",
    tests: ["transport/test/StreamableHttpServer.test.ts"]
  },
  {
    ids: ["RPC-01"],
    file: "transport/src/internal/json.ts",
    find: "new TextDecoder(\"utf-8\", { fatal: true })",
    replace: "new TextDecoder(\"utf-8\")",
    tests: ["transport/test/StreamableHttpServer.test.ts"]
  },
  {
    ids: ["RPC-05"],
    file: "transport/src/internal/respond.ts",
    find: "    if (message !== undefined) this.write(message)\n",
    replace: "    if (message !== undefined) this.write({ ...message, id: String(message.id) })\n",
    tests: ["transport/test/StreamableHttpServer.test.ts"]
  },
  {
    ids: ["HTTP-12"],
    file: "transport/src/internal/respond.ts",
    find: "this.oneShot = !options.accepts.stream\n",
    replace: "this.oneShot = !options.accepts.stream\n    if (!this.oneShot) this.stream()\n",
    tests: ["transport/test/StreamableHttpServer.test.ts"]
  },
  {
    ids: ["HTTP-53", "META-13"],
    file: "transport/src/internal/status.ts",
    find: "Codes.byCode(code)?.httpStatus ?? 200",
    replace: "Codes.byCode(code)?.httpStatus === undefined ? 400 : 200",
    tests: ["transport/test/StreamableHttpServer.test.ts"]
  },
  {
    ids: ["RPC-12"],
    file: "transport/src/internal/post.ts",
    find: "if (batch === undefined) return refuse(\"a batch is not part of this protocol version\")",
    replace: "if (batch === undefined) return accepted",
    tests: ["transport/test/StreamableHttpBatch.test.ts"]
  },
  {
    ids: ["RPC-10"],
    file: "transport/src/internal/respond.ts",
    find: "jsonResponse(batch ? `[${this.answers().join(\",\")}]` : first,",
    replace: "jsonResponse(batch && this.answers().length > 1 ? `[${this.answers().join(\",\")}]` : first,",
    tests: ["transport/test/StreamableHttpBatch.test.ts"]
  },
  {
    ids: ["HTTP-37", "HTTP-43"],
    file: "transport/src/internal/facts.ts",
    find:
      "    sessionId: present(headers[McpHeaders.names.sessionId]),\n    protocolVersion: present(headers[McpHeaders.names.protocolVersion]),",
    replace: "    sessionId: undefined,\n    protocolVersion: undefined,",
    tests: ["transport/test/StreamableHttpServer.test.ts"]
  },
  {
    ids: ["HTTP-45"],
    file: "transport/src/internal/sessionRoutes.ts",
    find: "classified._tag === \"Rejected\" && headers[McpHeaders.names.protocolVersion] !== undefined",
    replace: "classified._tag === \"Rejected\" && headers[McpHeaders.names.protocolVersion] === \"\"",
    tests: ["transport/test/StreamableHttpServer.test.ts"]
  },
  {
    ids: ["HTTP-39"],
    file: "transport/src/internal/respond.ts",
    find: "  failureResponse(\n    rejected.httpStatus,",
    replace: "  failureResponse(\n    rejected.httpStatus === 404 ? 400 : rejected.httpStatus,",
    tests: ["transport/test/StreamableHttpServer.test.ts"]
  },
  {
    ids: ["HTTP-62"],
    file: "transport/src/internal/respond.ts",
    find: "if (this.close(\"left\")) this.onLeft?.()",
    replace: "this.close(\"left\")",
    tests: ["transport/test/StreamableHttpStreams.test.ts"]
  },
  {
    ids: ["HTTP-05", "HTTP-06", "HTTP-12"],
    file: "transport/src/internal/clientConnection.ts",
    find: "const accepts = \"application/json, text/event-stream\"",
    replace: "const accepts = \"application/json\"",
    tests: ["transport/test/StreamableHttpClient.test.ts"]
  },
  {
    ids: ["HTTP-12"],
    file: "transport/src/internal/clientConnection.ts",
    find: "        return media.isEventStream(type)\n",
    replace: "        return type === \"text/event-stream; charset=none\"\n",
    tests: ["transport/test/StreamableHttpClient.test.ts"]
  },
  {
    ids: ["HTTP-50", "HTTP-55", "HTTP-56"],
    file: "transport/src/internal/clientConnection.ts",
    find: "const modern = claimedVersion(message) ?? agreed",
    replace: "const modern = agreed",
    tests: ["transport/test/StreamableHttpClient.test.ts"]
  },
  {
    ids: ["HTTP-37"],
    file: "transport/src/internal/clientConnection.ts",
    find: "if (this.sessionId !== undefined) headers[McpHeaders.names.sessionId] = this.sessionId",
    replace: "",
    tests: ["transport/test/StreamableHttpSession.test.ts"]
  },
  {
    ids: ["HTTP-43"],
    file: "transport/src/internal/versions.ts",
    find: "version >= namesVersion",
    replace: "version > namesVersion",
    tests: ["transport/test/StreamableHttpSession.test.ts"]
  },
  {
    ids: ["HTTP-40"],
    file: "transport/src/internal/clientConnection.ts",
    find: "    if (initializes) {\n      this.sessionId = undefined\n",
    replace: "    if (initializes) {\n      this.sessionId ??= \"the one before\"\n",
    tests: ["transport/test/StreamableHttpSession.test.ts"]
  },
  {
    ids: ["HTTP-39"],
    file: "transport/src/internal/clientReply.ts",
    find: "if (status === 404 && sent.sessionId !== undefined &&",
    replace: "if (status === 410 && sent.sessionId !== undefined &&",
    tests: ["transport/test/StreamableHttpSession.test.ts"]
  },
  {
    ids: ["HTTP-07"],
    file: "transport/src/internal/clientConnection.ts",
    find: "if (!(\"method\" in message)) return this.headersInSession",
    replace: "if (!(\"method\" in message)) return common",
    tests: ["transport/test/StreamableHttpSession.test.ts"]
  },
  {
    ids: ["HTTP-63"],
    file: "transport/src/internal/clientReply.ts",
    find: "    let answered = false\n    let spoke = false\n",
    replace: "    let answered = id !== undefined\n    let spoke = false\n",
    tests: ["transport/test/StreamableHttpClient.test.ts"]
  },
  {
    ids: ["XH-01"],
    file: "transport/src/internal/clientConnection.ts",
    find: "const headers = options?.headers === undefined ? own : ",
    replace: "const headers = options?.headers !== null ? own : ",
    tests: ["transport/test/StreamableHttpClient.test.ts"]
  },
  {
    ids: ["RPC-02"],
    file: "schema/src/JsonRpc.ts",
    find: "Number.isSafeInteger(",
    replace: "Number.isFinite(",
    tests: ["transport/test/StdioServer.test.ts"]
  },
  {
    ids: ["RPC-09"],
    file: "transport/src/internal/refusals.ts",
    find: "!fault.response && !(JsonRpc.isJsonObject(value)",
    replace: "!(JsonRpc.isJsonObject(value) && fault.response",
    tests: ["transport/test/StdioServer.test.ts"]
  },
  {
    ids: ["STD-14"],
    file: "transport/src/internal/outlets.ts",
    find: "    if (!this.open) return\n    this.sink.writeLine(",
    replace: "    this.sink.writeLine(",
    tests: ["transport/test/StdioServer.test.ts"]
  },
  {
    ids: ["STD-01", "STD-02"],
    file: "transport/src/internal/wire.ts",
    find: "    this.outbox.offer(line)\n",
    replace: "    this.outbox.offer(`${line}\\n`)\n",
    tests: ["transport/test/StdioServer.test.ts"]
  },
  {
    ids: ["RPC-10"],
    file: "transport/src/internal/outlets.ts",
    find: "if (--this.open === 0 && this.texts.length > 0)",
    replace: "if (--this.open === 0)",
    tests: ["transport/test/StdioServerBatches.test.ts"]
  },
  {
    ids: ["RPC-12"],
    file: "transport/src/internal/inbound.ts",
    find: "if (Option.isSome(rejected)) return this.refuse(text, rejected.value.error)",
    replace: "if (Option.isSome(rejected)) return undefined",
    tests: ["transport/test/StdioServerBatches.test.ts"]
  }
]
