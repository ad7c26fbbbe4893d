import type { Mutation } from "../mutation.ts"

/** What breaks the model of messages, errors and contracts. */
export const schema: ReadonlyArray<Mutation> = [
  {
    ids: ["LIF-03"],
    file: "schema/src/Revisions.ts",
    find: "legacy.find((revision) => revision.version === requested) ?? newestOf(legacy)",
    replace: "newestOf(legacy)",
    tests: ["schema/test/Revisions.test.ts"]
  },
  {
    ids: ["VER-05"],
    file: "schema/src/Revisions.ts",
    find: "[...revisions].sort((a, b) => b.ordinal - a.ordinal)",
    replace: "[...revisions].sort((a, b) => a.ordinal - b.ordinal)",
    tests: ["schema/test/Revisions.test.ts"]
  },
  {
    ids: ["RPC-19"],
    file: "schema/src/McpError.ts",
    find: "if (error.code === Codes.resourceNotFound) {",
    replace: "if (error.code === 0) {",
    tests: ["schema/test/McpError.test.ts"]
  },
  {
    ids: ["RPC-19", "RPC-20"],
    file: "schema/src/Codes.ts",
    find: "name: \"ResourceNotFound\", revisions: legacy,",
    replace: "name: \"ResourceNotFound\", revisions: every,",
    tests: ["schema/test/tables.test.ts"]
  },
  {
    ids: ["RPC-19", "RPC-20", "RPC-21"],
    file: "schema/src/McpError.ts",
    find: "modern ? Codes.internalError : Codes.overloaded,\n        `Too many",
    replace: "Codes.overloaded,\n        `Too many",
    tests: ["schema/test/McpError.test.ts"]
  },
  {
    ids: ["RPC-21"],
    file: "schema/src/Codes.ts",
    find: "return code < -32768 || code > -32000\n",
    replace: "return code < -32768 || code > -32020\n",
    tests: ["schema/test/McpError.test.ts"]
  },
  {
    ids: ["RPC-06"],
    file: "schema/src/McpError.ts",
    find: "return wire(Codes.internalError, \"Internal error\")",
    replace: "return wire(Codes.internalError, \"Internal error\", { stack: String(new Error().stack) })",
    tests: ["schema/test/McpError.test.ts"]
  },
  {
    ids: ["RES-05"],
    file: "schema/src/McpError.ts",
    find: "`Resource not found: ${error.uri}`, { uri: error.uri })",
    replace: "`Resource not found: ${error.uri}`)",
    tests: ["schema/test/McpError.test.ts"]
  },
  {
    ids: ["META-13"],
    file: "schema/src/McpError.ts",
    find: "{ requiredCapabilities: error.required }",
    replace: "{ required: error.required }",
    tests: ["schema/test/McpError.test.ts"]
  },
  {
    ids: ["VER-01"],
    file: "schema/src/McpError.ts",
    find: "        supported: error.supported,\n        requested: error.requested\n",
    replace: "        supported: error.supported\n",
    tests: ["schema/test/McpError.test.ts"]
  },
  {
    ids: ["HTTP-58"],
    file: "schema/src/McpError.ts",
    find: "wire(modern ? Codes.headerMismatch : Codes.invalidRequest,",
    replace: "wire(Codes.invalidRequest,",
    tests: ["schema/test/McpError.test.ts"]
  },
  {
    ids: ["META-09", "RPC-24", "HTTP-53"],
    file: "schema/src/McpError.ts",
    find: "    case \"MethodNotFound\":\n      return 404\n",
    replace: "    case \"MethodNotFound\":\n      return 400\n",
    tests: ["schema/test/McpError.test.ts"]
  },
  {
    ids: ["META-09"],
    file: "schema/src/Meta.ts",
    find: "if (protocolVersion === undefined) {",
    replace: "if (protocolVersion === undefined && clientCapabilities === undefined) {",
    tests: ["schema/test/Meta.test.ts"]
  },
  {
    ids: ["CAP-05"],
    file: "schema/src/Capabilities.ts",
    find: "(self.elicitation.form !== undefined || self.elicitation.url === undefined)",
    replace: "self.elicitation.form !== undefined",
    tests: ["schema/test/Capabilities.test.ts"]
  },
  {
    ids: ["CAP-06"],
    file: "schema/src/Capabilities.ts",
    find: "return self.sampling?.tools !== undefined",
    replace: "return self.sampling !== undefined",
    tests: ["schema/test/Capabilities.test.ts"]
  },
  {
    ids: ["CAP-02"],
    file: "schema/src/Capabilities.ts",
    find: "elicitation: { form: \"object\", url: \"object\" },",
    replace: "elicitation: { form: \"object\" },",
    tests: ["schema/test/Meta.test.ts"]
  },
  {
    ids: ["META-13"],
    file: "schema/src/Capabilities.ts",
    find: "[...asks].filter((ask) => !covers(self, ask))",
    replace: "[...asks]",
    tests: ["schema/test/Capabilities.test.ts"]
  },
  {
    ids: ["XH-01"],
    file: "schema/src/HeaderParam.ts",
    find: "open.push(...[...below(place)].reverse())",
    replace: "open.push(...(place.path === undefined ? [...below(place)].reverse() : []))",
    tests: ["schema/test/HeaderParam.test.ts"]
  },
  {
    ids: ["XH-02"],
    file: "schema/src/HeaderParam.ts",
    find: "const name = param.success.header.toLowerCase()",
    replace: "const name = param.success.header",
    tests: ["schema/test/HeaderParam.test.ts"]
  },
  {
    ids: ["XH-04"],
    file: "schema/src/HeaderParam.ts",
    find: "type === \"string\" || type === \"integer\" || type === \"boolean\"",
    replace: "type === \"string\" || type === \"integer\" || type === \"boolean\" || type === \"number\"",
    tests: ["schema/test/HeaderParam.test.ts"]
  },
  {
    ids: ["XH-05"],
    file: "schema/src/HeaderParam.ts",
    find: "if (!direct || path.length === 0) {",
    replace: "if (path.length === 0) {",
    tests: ["schema/test/HeaderParam.test.ts"]
  },
  {
    ids: ["XH-08"],
    file: "schema/src/HeaderParam.ts",
    find: "if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined\n    value = value[name]\n",
    replace: "if (!isJsonObject(value)) return undefined\n    value = value[name] ?? \"\"\n",
    tests: ["schema/test/HeaderParam.test.ts"]
  },
  {
    ids: ["META-15"],
    file: "schema/src/TraceContext.ts",
    find: "if (zeros.test(traceId) || zeros.test(spanId)) return undefined\n",
    replace: "",
    tests: ["schema/test/Meta.test.ts"]
  },
  {
    ids: ["META-15"],
    file: "schema/src/TraceContext.ts",
    find: "tracestate: isTracestate(tracestate) ? tracestate : undefined,",
    replace: "tracestate: typeof tracestate === \"string\" ? tracestate : undefined,",
    tests: ["schema/test/Meta.test.ts"]
  },
  {
    ids: ["TOL-05"],
    file: "schema/src/Tool.ts",
    find: "$schema: Schema.optionalKey(Schema.String), type: Schema.Literal(\"object\") })",
    replace: "$schema: Schema.optionalKey(Schema.String), type: Schema.String })",
    tests: ["schema/test/results.test.ts"]
  },
  {
    ids: ["CMP-02"],
    file: "schema/src/Completion.ts",
    find: "export const maxValues = 100",
    replace: "export const maxValues = 101",
    tests: ["schema/test/model.test.ts"]
  },
  {
    ids: ["RPC-13"],
    file: "schema/src/revision/v2026_07_28.ts",
    find: "self[\"resultType\"] === undefined ? { ...self, resultType: \"complete\" } : self",
    replace: "self",
    tests: ["schema/test/results.test.ts"]
  },
  {
    ids: ["RPC-14"],
    file: "schema/src/internal/fields.ts",
    find: "resultType: Schema.optionalKey(Schema.Literal(\"complete\"))",
    replace: "resultType: Schema.Literal(\"complete\")",
    tests: ["schema/test/results.test.ts"]
  },
  {
    ids: ["RPC-15"],
    file: "schema/src/internal/fields.ts",
    find: "resultType: Schema.optionalKey(Schema.Literal(\"complete\"))",
    replace: "resultType: Schema.optionalKey(Schema.Unknown)",
    tests: ["schema/test/results.test.ts"]
  },
  {
    ids: ["META-01"],
    file: "schema/src/MetaKey.ts",
    find: "[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$`)",
    replace: "[A-Za-z0-9][A-Za-z0-9._-]*$`)",
    tests: ["schema/test/Meta.test.ts"]
  },
  {
    ids: ["META-03"],
    file: "schema/src/MetaKey.ts",
    find: "return second === \"modelcontextprotocol\" || second === \"mcp\"",
    replace: "return second === \"modelcontextprotocol\"",
    tests: ["schema/test/Meta.test.ts"]
  },
  {
    ids: ["META-03", "META-04"],
    file: "schema/src/MetaKey.ts",
    find: "export const failure = \"io.mcpfx/failure\"",
    replace: "export const failure = \"mcp.mcpfx/failure\"",
    tests: ["schema/test/Meta.test.ts"]
  },
  {
    ids: ["EXT-01"],
    file: "schema/src/MetaKey.ts",
    find: "key.includes(\"/\") && isValid(key)",
    replace: "isValid(key)",
    tests: ["schema/test/Meta.test.ts"]
  },
  {
    ids: ["EXT-06"],
    file: "schema/src/Revisions.ts",
    find: "revision === v2026_07_28 ? tasks : revision",
    replace: "revision.era === \"modern\" ? revision : tasks",
    tests: ["schema/test/tables.test.ts"]
  },
  {
    ids: ["LIF-11"],
    file: "schema/src/revision/v2025_06_18.ts",
    find: "versionHeader: true",
    replace: "versionHeader: false",
    tests: ["schema/test/tables.test.ts"]
  },
  {
    ids: ["RES-13"],
    file: "schema/src/internal/uriTemplateExpand.ts",
    find: "\"&\": style(\"&\", \"&\", true, \"=\")",
    replace: "\"&\": style(\"?\", \"&\", true, \"=\")",
    tests: ["schema/test/UriTemplate.test.ts"]
  },
  {
    ids: ["RES-09"],
    file: "schema/src/internal/uriTemplateMatch.ts",
    find: "segment === \".\" || segment === \"..\"",
    replace: "segment === \"...\"",
    tests: ["schema/test/UriTemplate.test.ts"]
  },
  {
    ids: ["RES-09"],
    file: "schema/src/internal/uriTemplateMatch.ts",
    find: "return hasSeparator(value) && !run.separators ? undefined : value",
    replace: "return value",
    tests: ["schema/test/UriTemplate.test.ts"]
  },
  {
    ids: ["PRM-04"],
    file: "schema/src/Content.ts",
    find: "({ type: \"image\", data, mimeType })",
    replace: "({ type: \"image\", data: `data:${mimeType};base64,${data}`, mimeType })",
    tests: ["schema/test/model.test.ts"]
  },
  {
    ids: ["PRG-01"],
    file: "schema/src/internal/fields.ts",
    find: "(u[\"progressToken\"] === undefined || isProgressToken(u[\"progressToken\"]))",
    replace: "u[\"progressToken\"] !== 0",
    tests: ["schema/test/params.test.ts"]
  },
  {
    ids: ["CAN-06"],
    file: "schema/src/internal/notifications.ts",
    find: "requestId: Schema.Union([Schema.String, Schema.Int])",
    replace: "requestId: Schema.optionalKey(Schema.Union([Schema.String, Schema.Int]))",
    tests: ["schema/test/params.test.ts"]
  }
]
