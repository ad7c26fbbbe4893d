import type { Mutation } from "../mutation.ts"

/** What breaks the server: what it offers, answers, announces and logs. */
export const server: ReadonlyArray<Mutation> = [
  {
    ids: ["VER-01"],
    file: "server/src/internal/door.ts",
    find: "new McpError.UnsupportedVersion({ supported: settings.supported, requested: envelope.protocolVersion }),",
    replace: "new McpError.UnsupportedVersion({ supported: [], requested: envelope.protocolVersion }),",
    tests: ["server/test/McpEndpoint.test.ts"]
  },
  {
    ids: ["META-09"],
    file: "server/src/internal/door.ts",
    find: "new McpError.InvalidEnvelope({ key: claim.failure.key, reason: claim.failure.reason }),",
    replace: "new McpError.InvalidRequest({ detail: claim.failure.key }),",
    tests: ["server/test/McpEndpoint.test.ts"]
  },
  {
    ids: ["RPC-10", "RPC-12"],
    file: "server/src/internal/door.ts",
    find: ": Lifecycle.batchRefusal(revision, messages, this.gateway.batchLength)",
    replace: ": undefined",
    tests: ["server/test/McpEndpoint.test.ts"]
  },
  {
    ids: ["RPC-04"],
    file: "server/src/internal/httpSessions.ts",
    find: "client, inFlight, key: exchange })",
    replace: "client, inFlight, key: request.id })",
    tests: ["server/test/Modern.test.ts"]
  },
  {
    ids: ["META-12", "STA-01"],
    file: "server/src/internal/door.ts",
    find: "      clientCapabilities: envelope.clientCapabilities,\n",
    replace: "      clientCapabilities: {},\n",
    tests: ["server/test/Modern.test.ts"]
  },
  {
    ids: ["PNG-03", "HTTP-53"],
    file: "server/src/internal/modern.ts",
    find: ": rejected(dispatcher.absent(request.method, context), context.revision)",
    replace: ": rejected(new McpError.InvalidRequest({ detail: request.method }), context.revision)",
    tests: ["server/test/McpEndpoint.test.ts"]
  },
  {
    ids: ["HTTP-62"],
    file: "server/src/internal/modern.ts",
    find: "? Exit.succeed({ disconnected: () => void inFlight.interrupt(key) })",
    replace: "? Exit.succeed({ disconnected: () => {} })",
    tests: ["server/test/Modern.test.ts"]
  },
  {
    ids: ["META-13"],
    file: "server/src/internal/admission.ts",
    find: "if (missing !== undefined) {",
    replace: "if (missing !== undefined && entry.kind === \"prompt\") {",
    tests: ["server/test/Modern.test.ts"]
  },
  {
    ids: ["XH-11", "XH-12"],
    file: "server/src/internal/overHttp.ts",
    find: "if (fault === undefined || !isVisible(entry, context)) return undefined",
    replace: "if (fault === undefined || isVisible(entry, context)) return undefined",
    tests: ["server/test/Modern.test.ts"]
  },
  {
    ids: ["CAP-01"],
    file: "server/src/Discover.ts",
    find: "declared === undefined ? registered : declared !== false",
    replace: "declared !== false",
    tests: ["server/test/Discover.test.ts"]
  },
  {
    ids: ["RPC-24"],
    file: "server/src/Discover.ts",
    find: "    case Methods.ToolsCall.name:\n      return offer.tools\n",
    replace: "    case Methods.ToolsCall.name:\n      return true\n",
    tests: ["server/test/Discover.test.ts"]
  },
  {
    ids: ["CMP-01"],
    file: "server/src/Discover.ts",
    find:
      "return offer.completions || (!revision.features.completionsCapability && (offer.prompts || offer.resources))",
    replace: "return offer.completions",
    tests: ["server/test/Discover.test.ts"]
  },
  {
    ids: ["VER-05", "CCH-01"],
    file: "server/src/Discover.ts",
    find: "  ttlMs: settings.cache.ttlMs,\n",
    replace: "  ttlMs: settings.cache.ttlMs + 1,\n",
    tests: ["server/test/Discover.test.ts"]
  },
  {
    ids: ["LIF-03", "LIF-05"],
    file: "server/src/Discover.ts",
    find: "  protocolVersion: revision.version,\n",
    replace: "  protocolVersion: settings.newestLegacy?.version ?? revision.version,\n",
    tests: ["server/test/Dispatcher.test.ts"]
  },
  {
    ids: ["LIF-05"],
    file: "server/src/Discover.ts",
    find: "  serverInfo: settings.info,\n",
    replace: "  serverInfo: { ...settings.info, name: \"mcpfx\" },\n",
    tests: ["server/test/Dispatcher.test.ts"]
  },
  {
    ids: ["SUB-01", "SUB-02"],
    file: "server/src/Listen.ts",
    find: "...(wish.promptsListChanged === true && offer.announces.prompts &&",
    replace: "...(offer.announces.prompts &&",
    tests: ["server/test/Listen.test.ts"]
  },
  {
    ids: ["SUB-02"],
    file: "server/src/Listen.ts",
    find: "        yield* context.notify(Methods.SubscriptionsAcknowledged,",
    replace:
      "        yield* teller(context.notify, meta)({ kind: \"tools\" })\n        yield* context.notify(Methods.SubscriptionsAcknowledged,",
    tests: ["server/test/Listen.test.ts"]
  },
  {
    ids: ["META-14"],
    file: "server/src/internal/listenStream.ts",
    find: "teller(this.context.notify, this.meta)",
    replace: "teller(this.context.notify)",
    tests: ["server/test/Listen.test.ts"]
  },
  {
    ids: ["SUB-08"],
    file: "server/src/Listen.ts",
    find: "  facts.transport === \"http\" || id === undefined\n",
    replace: "  facts.transport !== \"http\" || id === undefined\n",
    tests: ["server/test/Listen.test.ts"]
  },
  {
    ids: ["CCH-12"],
    file: "server/src/internal/followers.ts",
    find: "return caller !== undefined && found !== undefined && scopeRefusal(found.entry, caller) === undefined",
    replace: "return caller !== undefined",
    tests: ["server/test/Listen.test.ts"]
  },
  {
    ids: ["LOG-03"],
    file: "server/src/LogBridge.ts",
    find: "request.logLevel !== undefined && Logging.passes(level, request.logLevel)",
    replace: "Logging.passes(level, request.logLevel ?? \"debug\")",
    tests: ["server/test/LogBridge.test.ts"]
  },
  {
    ids: ["LOG-01"],
    file: "server/src/internal/door.ts",
    find: "logLevel: settings.declared.logging === false ? undefined : envelope.logLevel",
    replace: "logLevel: envelope.logLevel",
    tests: ["server/test/LogBridge.test.ts"]
  },
  {
    ids: ["LOG-04"],
    file: "server/src/LogBridge.ts",
    find: "request.notify(\n    Methods.LoggingMessage,",
    replace: "request.notify(\n    Methods.ToolsListChanged,",
    tests: ["server/test/LogBridge.test.ts"]
  },
  {
    ids: ["LOG-06"],
    file: "server/src/LogBridge.ts",
    find: "return meter.take(Context.get(context, Clock.Clock).currentTimeMillisUnsafe())",
    replace: "return meter !== undefined",
    tests: ["server/test/LogBridge.test.ts"]
  },
  {
    ids: ["CCH-10"],
    file: "server/src/internal/listRoutes.ts",
    find: "return answer(Result.map(page, (page) => write(page, \"private\")))",
    replace:
      "return answer(Result.map(page, (page) => write(page, isGuarded(page.items) ? \"private\" : cache.scope)))",
    tests: ["server/test/Dispatcher.test.ts"]
  },
  {
    ids: ["CCH-01"],
    file: "server/src/internal/listRoutes.ts",
    find: "        ttlMs: cache.ttlMs,\n",
    replace: "        ttlMs: 0,\n",
    tests: ["server/test/Dispatcher.test.ts"]
  },
  {
    ids: ["CCH-05"],
    file: "server/src/internal/listRoutes.ts",
    find: "const visible = entries.filter((entry) => isVisible(entry, context))",
    replace: "const visible = entries",
    tests: ["server/test/Dispatcher.test.ts"]
  },
  {
    ids: ["TOL-01"],
    file: "server/src/internal/listRoutes.ts",
    find: "({ tools: entries.map((entry) => entry.descriptor), ...rest })",
    replace: "({ tools: entries.slice(1).map((entry) => entry.descriptor), ...rest })",
    tests: ["server/test/Dispatcher.test.ts"]
  },
  {
    ids: ["RES-01"],
    file: "server/src/internal/listRoutes.ts",
    find: "({ resources: entries.map((entry) => entry.descriptor), ...rest })",
    replace: "({ resources: entries.slice(1).map((entry) => entry.descriptor), ...rest })",
    tests: ["server/test/Dispatcher.test.ts"]
  },
  {
    ids: ["PRM-01"],
    file: "server/src/internal/listRoutes.ts",
    find: "({ prompts: entries.map((entry) => entry.descriptor), ...rest })",
    replace: "({ prompts: entries.slice(1).map((entry) => entry.descriptor), ...rest })",
    tests: ["server/test/Dispatcher.test.ts"]
  },
  {
    ids: ["TOL-21"],
    file: "server/src/internal/toolCall.ts",
    find: "if (Result.isFailure(input)) return refuse(contract.name, input.failure)",
    replace: "if (Result.isFailure(input)) return Effect.succeed({ content: [] })",
    tests: ["server/test/ServerTool.test.ts"]
  },
  {
    ids: ["TOL-08"],
    file: "server/src/internal/toolCall.ts",
    find: "content.length === 0 ? [textBlock(JSON.stringify(structuredContent))] : content",
    replace: "content",
    tests: ["server/test/ServerTool.test.ts"]
  },
  {
    ids: ["RES-05"],
    file: "server/src/internal/resourceRead.ts",
    find:
      "return contents.length === 0 ? Effect.fail(new ResourceNotFound({ uri })) : Effect.succeed({ contents, ...extra })",
    replace: "return Effect.succeed({ contents, ...extra })",
    tests: ["server/test/ServerResource.test.ts"]
  },
  {
    ids: ["RES-09"],
    file: "server/src/internal/contents.ts",
    find: "typeof blob === \"string\" ? blob : Base64.encode(blob)",
    replace: "typeof blob === \"string\" ? blob : Base64.encode(blob).replaceAll(\"=\", \"\")",
    tests: ["server/test/ServerResource.test.ts"]
  },
  {
    ids: ["CMP-02"],
    file: "server/src/Completer.ts",
    find: "      values: completion.values,\n",
    replace: "      values: offered.values,\n",
    tests: ["server/test/Completer.test.ts"]
  },
  {
    ids: ["SEC-06"],
    file: "server/src/internal/httpSessions.ts",
    find: "sessions.open({ principalKey: Principal.key(exchange.facts.principal) })",
    replace: "sessions.open({ principalKey: \"\" })",
    tests: ["server/test/McpEndpoint.test.ts"]
  },
  {
    ids: ["STD-02"],
    file: "server/src/McpStdio.ts",
    find: "Effect.andThen(Stdout.guard, Effect.provideService(effect, Logger.LogToStderr, true))",
    replace: "effect",
    tests: ["server/test/McpServer.test.ts"]
  },
  {
    ids: ["VER-03"],
    file: "server/src/Dispatcher.ts",
    find: "  lane.add(Methods.Discover, (wire) =>",
    replace: "  if (lane.revision.era === \"legacy\") lane.add(Methods.Discover, (wire) =>",
    tests: ["server/test/McpEndpoint.test.ts"]
  },
  {
    ids: ["EXT-01"],
    file: "server/src/internal/settings.ts",
    find: "Object.keys(options.extensions ?? {}).find((id) => !MetaKey.isExtensionId(id))",
    replace: "Object.keys(options.extensions ?? {}).find((id) => id === \"\")",
    tests: ["server/test/Discover.test.ts"]
  },
  {
    ids: ["TRN-01"],
    file: "server/src/internal/door.ts",
    find: "if (claim.success !== undefined) return this.modern(exchange, message, claim.success)",
    replace:
      "if (claim.success !== undefined && facts.connection === undefined) {\n        return this.modern(exchange, message, claim.success)\n      }",
    tests: ["server/test/McpServer.test.ts"]
  },
  {
    ids: ["HTTP-16"],
    file: "transport/src/internal/respond.ts",
    find: "this.state === \"open\" ? this.reply.push(message) : Effect.void)",
    replace: "this.state === \"open\" ? this.reply.push({ ...message, id: 1 }) : Effect.void)",
    tests: ["server/test/McpServerStreams.test.ts"]
  },
  {
    ids: ["HTTP-23"],
    file: "session/src/internal/actor.ts",
    find: "new LiveRequest(this, message, agreed, exchange, waits, after)",
    replace: "new LiveRequest(this, message, agreed, this.links?.[0] === undefined ? exchange : {\n"
      + "      ...exchange,\n"
      + "      outlet: {\n"
      + "        ...exchange.outlet,\n"
      + "        answer: (answer) => {\n"
      + "          this.fibers.run(this.services, Effect.ignore(this.links?.[0]?.send(answer) ?? Effect.void))\n"
      + "          exchange.outlet.answer(answer)\n"
      + "        }\n"
      + "      }\n"
      + "    }, waits, after)",
    tests: ["server/test/McpServerStreams.test.ts"]
  },
  {
    ids: ["SUB-10"],
    file: "server/src/Listen.ts",
    find: "        yield* stream.acknowledge()\n",
    replace: "        yield* stream.acknowledge()\n"
      + "        yield* context.notify(Methods.LoggingMessage, { level: \"info\", data: \"listening\" })\n",
    tests: ["server/test/Listen.test.ts"]
  },
  {
    ids: ["PRM-06"],
    file: "server/src/internal/promptGet.ts",
    find: "return Effect.fail(new InvalidParams({ detail: args.failure.message() }))",
    replace: "return Effect.succeed({ messages: [] })",
    tests: ["server/test/ServerPrompt.test.ts"]
  },
  {
    ids: ["CMP-06"],
    file: "server/src/internal/entryRoutes.ts",
    find: "if (!(\"complete\" in found)) return Effect.fail(found)",
    replace: "if (!(\"complete\" in found)) return Effect.succeed(noValues)",
    tests: ["server/test/Dispatcher.test.ts"]
  }
]
