/** What the modules of a small server are for. */

interface Part {
  readonly name: string
  readonly modules: RegExp
}

/** The first that fits has a module. */
export const parts: ReadonlyArray<Part> = [
  { name: "spans, trace context", modules: /Telemetry|TraceContext|Suspended/ },
  {
    name: "listening, list changes",
    modules:
      /server\/src\/(?:Listen|ChangeBus)|followers|listenStream|coalesce|forward|uriSet|notices|Subscription|\/filter\./
  },
  {
    name: "requests to the client",
    modules: /session\/src\/(?:Peer|Pending|Progress|internal\/(?:calls|deadlines|keepAlive|revivedIds))|Patience/
  },
  { name: "logs to the client", modules: /LogBridge|Logging|ambient|enclosing/ },
  { name: "the transport", modules: /packages\/transport/ },
  { name: "sessions, requests in flight", modules: /packages\/session/ },
  { name: "what is registered, methods, both eras", modules: /packages\/server/ },
  {
    name: "contracts, JSON Schemas",
    modules:
      /src\/(?:JsonSchema|HeaderParam|ToolContract|SchemaMismatch|InvalidContract|internal\/(?:toolContract|contractSpec|side|json(?:Codec|Schema\w*)))\.ts/
  },
  {
    name: "JSON-RPC, errors",
    modules: /src\/(?:JsonRpc|McpError|Codes|Meta|MetaKey|internal\/(?:json|modernMeta))\.ts/
  },
  {
    name: "five revisions",
    modules:
      /src\/(?:revision\/|Revisions|Methods|Method\.|CustomMethod|internal\/(?:requests|notifications|rounds|task\w+|downgrade\w*|project|codec|definition|readers|tolerant|capabilities|shapes|plainCall)\.)/
  },
  { name: "what messages hold", modules: /packages\/schema/ },
  { name: "Effect", modules: /effect/ }
]

export const partOf = (module: string): string =>
  parts.find(({ modules }) => modules.test(module))?.name ?? "the program"
