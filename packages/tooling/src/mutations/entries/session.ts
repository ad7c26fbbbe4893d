import type { Mutation } from "../mutation.ts"

/** What breaks the conversation: its start, its requests and its end. */
export const session: ReadonlyArray<Mutation> = [
  {
    ids: ["RPC-10", "RPC-12"],
    file: "session/src/Lifecycle.ts",
    find: "if (!revision.features.batching) return `revision ${revision.version} has no batches`\n",
    replace: "",
    tests: ["session/test/Lifecycle.test.ts"]
  },
  {
    ids: ["RPC-11"],
    file: "session/src/Lifecycle.ts",
    find: "message.method === Methods.Initialize.name)\n    ?",
    replace: "message.method === Methods.Initialized.name)\n    ?",
    tests: ["session/test/Lifecycle.test.ts"]
  },
  {
    ids: ["LIF-01"],
    file: "session/src/Lifecycle.ts",
    find: "return method === Methods.Ping.name ? \"Ping\" : \"NotInitialized\"",
    replace: "return method === Methods.Ping.name ? \"Ping\" : \"Serve\"",
    tests: ["session/test/laws/lifecycle.test.ts"]
  },
  {
    ids: ["PNG-01"],
    file: "session/src/Lifecycle.ts",
    find: "return method === Methods.Ping.name ? \"Ping\" : \"NotInitialized\"",
    replace: "return \"NotInitialized\"",
    tests: [
      "session/test/SessionServer.test.ts",
      "session/test/SessionMessages.test.ts",
      "session/test/SessionEnd.test.ts"
    ]
  },
  {
    ids: ["LIF-06"],
    file: "session/src/Lifecycle.ts",
    find: "if (state._tag === \"Initializing\") return ready(state.agreed)\n",
    replace: "",
    tests: [
      "session/test/SessionServer.test.ts",
      "session/test/SessionMessages.test.ts",
      "session/test/SessionEnd.test.ts"
    ]
  },
  {
    ids: ["LIF-03"],
    file: "session/src/internal/terms.ts",
    find: "Revisions.negotiate(requested, revisions)",
    replace: "Revisions.negotiate(\"\", revisions)",
    tests: [
      "session/test/SessionServer.test.ts",
      "session/test/SessionMessages.test.ts",
      "session/test/SessionEnd.test.ts"
    ]
  },
  {
    ids: ["RPC-03"],
    file: "session/src/Pending.ts",
    find: "    this.last += 1\n",
    replace: "    this.last = 1\n",
    tests: ["session/test/Peer.test.ts"]
  },
  {
    ids: ["RPC-05"],
    file: "session/src/InFlight.ts",
    find: "outlet.answer(JsonRpc.success(id, exit.value))",
    replace: "outlet.answer(JsonRpc.success(String(id), exit.value))",
    tests: [
      "session/test/SessionServer.test.ts",
      "session/test/SessionMessages.test.ts",
      "session/test/SessionEnd.test.ts"
    ]
  },
  {
    ids: ["PNG-01"],
    file: "session/src/internal/actor.ts",
    find: "const pong: JsonRpc.JsonObject = {}",
    replace: "const pong: JsonRpc.JsonObject = { pong: true }",
    tests: [
      "session/test/SessionServer.test.ts",
      "session/test/SessionMessages.test.ts",
      "session/test/SessionEnd.test.ts"
    ]
  },
  {
    ids: ["RPC-17", "RPC-18", "STD-11"],
    file: "session/src/internal/actor.ts",
    find: "if (modern || message.method === Methods.Initialize.name) {",
    replace: "if (message.method === Methods.Initialize.name) {",
    tests: ["session/test/Peer.test.ts"]
  },
  {
    ids: ["META-07"],
    file: "session/src/Peer.ts",
    find: "return { ...meta, ...envelope, ...trace }",
    replace: "return { ...envelope, ...meta, ...trace }",
    tests: ["session/test/Peer.test.ts"]
  },
  {
    ids: ["META-15"],
    file: "session/src/Peer.ts",
    find: "const trace = span === undefined ? undefined : traceMeta(span)",
    replace: "const trace = span === undefined || span.sampled ? undefined : traceMeta(span)",
    tests: ["session/test/Peer.test.ts"]
  },
  {
    ids: ["LIF-10"],
    file: "session/src/internal/calls.ts",
    find:
      "if (this.over !== undefined || revision === undefined || call.plan.method === Methods.Initialize.name) return",
    replace: "if (call.plan.method === \"\") return",
    tests: ["session/test/Peer.test.ts"]
  },
  {
    ids: ["CAN-02", "HTTP-62"],
    file: "session/src/internal/calls.ts",
    find: "if (revision.era === \"modern\" && sending !== undefined) return\n",
    replace: "",
    tests: ["session/test/Peer.test.ts"]
  },
  {
    ids: ["CAN-01"],
    file: "session/src/internal/calls.ts",
    find: "{ requestId: call.id, reason }",
    replace: "{ requestId: String(call.id), reason }",
    tests: ["session/test/Peer.test.ts"]
  },
  {
    ids: ["PRG-02"],
    file: "session/src/Progress.ts",
    find: "  let last = options.after\n",
    replace: "  let last = options.after\n  options = { ...options, token: String(options.token) }\n",
    tests: ["session/test/Progress.test.ts"]
  },
  {
    ids: ["HTTP-24"],
    file: "session/src/internal/actor.ts",
    find: "return this.newest ?? this.options.link",
    replace: "return this.older?.at(0) ?? this.newest ?? this.options.link",
    tests: [
      "session/test/SessionServer.test.ts",
      "session/test/SessionMessages.test.ts",
      "session/test/SessionEnd.test.ts"
    ]
  },
  {
    ids: ["PRG-03"],
    file: "session/src/internal/context.ts",
    find: "    this.over = true\n",
    replace: "    this.over = false\n",
    tests: ["session/test/Progress.test.ts"]
  },
  {
    ids: ["JSC-01"],
    file: "session/src/internal/jsonSchemaDocument.ts",
    find: "if (uri === undefined) return Result.succeed(\"2020-12\")",
    replace: "if (uri === undefined) return Result.succeed(\"draft-07\")",
    tests: ["session/test/JsonSchemaValidator.test.ts"]
  },
  {
    ids: ["JSC-02"],
    file: "session/src/internal/jsonSchemaDocument.ts",
    find:
      "return dialect === undefined ? Result.fail(new UnsupportedDialect({ dialect: uri })) : Result.succeed(dialect)",
    replace: "return Result.succeed(dialect ?? \"2020-12\")",
    tests: ["session/test/JsonSchemaValidator.test.ts"]
  },
  {
    ids: ["JSC-04"],
    file: "session/src/internal/jsonSchemaDocument.ts",
    find: "if (resource === undefined) return Result.fail(new ExternalRef({ path: place.path, ref: reference }))",
    replace: "if (resource === undefined) return invalid(place.path, \"unknown reference\")",
    tests: ["session/test/JsonSchemaValidator.test.ts"]
  }
]
