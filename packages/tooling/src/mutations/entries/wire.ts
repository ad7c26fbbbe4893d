import type { Mutation } from "../mutation.ts"

/** What breaks the traffic of a whole server or client: what goes on which stream, and what never goes at all. */
export const wire: ReadonlyArray<Mutation> = [
  {
    ids: ["RPC-17", "STD-11"],
    file: "server/src/internal/single.ts",
    find: ": outlet.push(JsonRpc.notification(method.name, codec.encodeParams(params)))",
    replace: ": outlet.push(JsonRpc.request(1, method.name, codec.encodeParams(params)))",
    tests: ["server/test/Streams.test.ts"]
  },
  {
    ids: ["RPC-18", "STD-11"],
    file: "session/src/internal/actor.ts",
    find: "if (modern || message.method === Methods.Initialize.name) {",
    replace: "if (message.method === Methods.Initialize.name) {",
    tests: ["client/test/Messages.test.ts"]
  },
  {
    ids: ["PNG-01"],
    file: "server/src/Dispatcher.ts",
    find: "lane.add(Methods.Ping, (wire) => () => Effect.succeed(wire.encode({})))",
    replace: "lane.add(Methods.Ping, (wire) => () => Effect.succeed({ ...wire.encode({}), pong: true }))",
    tests: ["server/test/McpEndpoint.test.ts"]
  },
  {
    ids: ["PNG-02"],
    file: "server/src/McpEndpoint.ts",
    find: "pingEvery: settings.heartbeat",
    replace: "pingEvery: undefined",
    tests: ["server/test/Streams.test.ts"]
  },
  {
    ids: ["SUB-02"],
    file: "server/src/internal/listenStream.ts",
    find: "return Effect.andThen(gate.await, telling)",
    replace: "return telling",
    tests: ["server/test/Streams.test.ts"]
  },
  {
    ids: ["SUB-08"],
    file: "server/src/internal/single.ts",
    find: "    this.over = true\n",
    replace: "    Effect.runSync(this.notify(Methods.Cancelled, { requestId: this.id }))\n    this.over = true\n",
    tests: ["server/test/Streams.test.ts"]
  },
  {
    ids: ["LOG-04"],
    file: "server/src/LogBridge.ts",
    find: "  request.notify(\n    Methods.LoggingMessage,",
    replace: "  (Reflect.get(meters, \"first\") ?? Object.assign(meters, { first: request }).first).notify(\n"
      + "    Methods.LoggingMessage,",
    tests: ["server/test/Streams.test.ts"]
  },
  {
    ids: ["CAN-02"],
    file: "server/src/internal/connections.ts",
    find: "JsonRpc.isRequestId(id) && connection.inFlight.interrupt(id)",
    replace:
      "JsonRpc.isRequestId(id) && [...this.open.values()].map(({ inFlight }) => inFlight.interrupt(id)).some(Boolean)",
    tests: ["server/test/Streams.test.ts"]
  },
  {
    ids: ["CAN-02"],
    file: "session/src/internal/calls.ts",
    find: "if (revision.era === \"modern\" && sending !== undefined) return\n",
    replace: "",
    tests: ["client/test/Messages.test.ts"]
  },
  {
    ids: ["PRM-04"],
    file: "schema/src/Content.ts",
    find: "({ type: \"image\", data, mimeType })",
    replace: "({ type: \"image\", data: `data:${mimeType};base64,${data}`, mimeType })",
    tests: ["server/test/Prompts.test.ts"]
  },
  {
    ids: ["PRM-06"],
    file: "server/src/internal/promptGet.ts",
    find: "if (!Messages.isMessages(messages)) return mismatch(\"what it returned is neither text nor messages\")",
    replace: "if (!Messages.isMessages(messages)) return Effect.succeed({ messages: [] })",
    tests: ["server/test/Prompts.test.ts"]
  },
  {
    ids: ["CMP-06"],
    file: "server/src/internal/entryRoutes.ts",
    find:
      "if (entry === undefined || !isVisible(entry, context)) return new McpError.PromptNotFound({ name: ref.name })",
    replace: "if (entry === undefined) return new McpError.PromptNotFound({ name: ref.name })",
    tests: ["server/test/Prompts.test.ts"]
  },
  {
    ids: ["LIF-05"],
    file: "server/src/Discover.ts",
    find: "  capabilities: capabilities(settings, offer, listsTasks),\n",
    replace: "  capabilities: {},\n",
    tests: ["server/test/Dispatcher.test.ts"]
  },
  {
    ids: ["EXT-06"],
    file: "server/src/Discover.ts",
    find: "...(offer.extensions && { extensions: offer.extensions })",
    replace: "extensions: offer.extensions ?? { \"io.modelcontextprotocol/tasks\": {} }",
    tests: ["server/test/Discover.test.ts"]
  },
  {
    ids: ["LIF-02"],
    file: "client/src/internal/handshake.ts",
    find: "      protocolVersion: revision.version,\n      capabilities:",
    replace: "      protocolVersion: \"2025-11-25\",\n      capabilities:",
    tests: ["client/test/Messages.test.ts"]
  },
  {
    ids: ["TRN-01"],
    file: "client/src/internal/handshake.ts",
    find: "      session.peer.notify(Methods.Initialized, {}),\n",
    replace: "      Effect.void,\n",
    tests: ["client/test/Messages.test.ts"]
  }
]
