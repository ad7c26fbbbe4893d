import type { Mutation } from "../mutation.ts"

/** What breaks the way of messages over stdio and HTTP. */
export const transport: ReadonlyArray<Mutation> = [
  {
    ids: ["HTTP-50"],
    file: "transport/src/Classify.ts",
    find: "if (version === undefined || header === version) return undefined",
    replace: "if (version !== \"\") return undefined",
    tests: ["transport/test/Classify.test.ts"]
  },
  {
    ids: ["HTTP-52", "VER-01"],
    file: "transport/src/Classify.ts",
    find: "bad(Codes.unsupportedVersion, unsupportedText, { supported, requested })",
    replace: "bad(Codes.invalidParams, unsupportedText, { supported, requested })",
    tests: ["transport/test/Classify.test.ts"]
  },
  {
    ids: ["HTTP-58", "HTTP-56"],
    file: "transport/src/Classify.ts",
    find: "const fault = McpHeaders.checkMirrors(headers, message)",
    replace: "const fault = headers[\"\"] === \"\" ? McpHeaders.checkMirrors(headers, message) : undefined",
    tests: ["transport/test/Classify.test.ts"]
  },
  {
    ids: ["META-09"],
    file: "transport/src/Classify.ts",
    find: "return crossCheck(headers, claimedVersion(message.params)) ?? badEnvelope(claim.failure)",
    replace: "return unversioned",
    tests: ["transport/test/Classify.test.ts"]
  },
  {
    ids: ["HTTP-45"],
    file: "transport/src/Classify.ts",
    find: "        : bad(Codes.invalidParams, unsupportedText, { supported, requested: header }))",
    replace: "        : unversioned)",
    tests: ["transport/test/Classify.test.ts"]
  },
  {
    ids: ["RPC-18"],
    file: "transport/src/Classify.ts",
    find: "? bad(Codes.invalidRequest, `Not part of protocol version ${header}`)",
    replace: "? unversioned",
    tests: ["transport/test/Classify.test.ts"]
  },
  {
    ids: ["HTTP-55", "HTTP-50", "HTTP-56"],
    file: "transport/src/McpHeaders.ts",
    find: "    [names.method]: encodeValue(message.method)\n",
    replace: "",
    tests: ["transport/test/McpHeaders.test.ts"]
  },
  {
    ids: ["HTTP-56"],
    file: "transport/src/McpHeaders.ts",
    find: "  [\"resources/read\", \"uri\"],",
    replace: "  [\"resources/read\", \"name\"],",
    tests: ["transport/test/McpHeaders.test.ts"]
  },
  {
    ids: ["HTTP-58"],
    file: "transport/src/McpHeaders.ts",
    find: "if (raw === undefined) return { header, reason: \"missing\" }",
    replace: "if (raw === undefined) return undefined",
    tests: ["transport/test/McpHeaders.test.ts"]
  },
  {
    ids: ["HTTP-50"],
    file: "transport/src/McpHeaders.ts",
    find: "compare(headers, names.protocolVersion, (value) => value === version)",
    replace: "compare(headers, names.protocolVersion, (value) => value.startsWith(version))",
    tests: ["transport/test/McpHeaders.test.ts"]
  },
  {
    ids: ["HTTP-60"],
    file: "transport/src/McpHeaders.ts",
    find: "decoded === text || (numeric",
    replace: "decoded.toLowerCase() === text.toLowerCase() || (numeric",
    tests: ["transport/test/McpHeaders.test.ts"]
  },
  {
    ids: ["HTTP-60"],
    file: "transport/src/McpHeaders.ts",
    find: "paramPrefix + header.toLowerCase()",
    replace: "paramPrefix + header",
    tests: ["transport/test/McpHeaders.test.ts"]
  },
  {
    ids: ["XH-08"],
    file: "transport/src/McpHeaders.ts",
    find: "if (!JsonRpc.isJsonObject(node) || !Object.hasOwn(node, key)) return undefined",
    replace: "if (!JsonRpc.isJsonObject(node)) return undefined",
    tests: ["transport/test/McpHeaders.test.ts"]
  },
  {
    ids: ["XH-09"],
    file: "transport/src/McpHeaders.ts",
    find: "plain.test(value) && !value.toLowerCase().startsWith(sentinelStart)",
    replace: "plain.test(value)",
    tests: ["transport/test/McpHeaders.test.ts"]
  },
  {
    ids: ["XH-09"],
    file: "transport/src/McpHeaders.ts",
    find: "return value ? \"true\" : \"false\"",
    replace: "return value ? \"1\" : \"0\"",
    tests: ["transport/test/McpHeaders.test.ts"]
  },
  {
    ids: ["XH-11"],
    file: "transport/src/McpHeaders.ts",
    find: "    if (fault !== undefined) return fault\n",
    replace: "    if (fault !== undefined && fault.reason !== \"mismatch\") return fault\n",
    tests: ["transport/test/McpHeaders.test.ts"]
  },
  {
    ids: ["XH-12"],
    file: "transport/src/McpHeaders.ts",
    find: "const text = textOf(value)\n    if (text === undefined) continue",
    replace: "const text = textOf(value) ?? \"null\"",
    tests: ["transport/test/McpHeaders.test.ts"]
  },
  {
    ids: ["HTTP-02"],
    file: "transport/src/Guard.ts",
    find: "host(h) ?? (o === undefined ? undefined : origin(o))",
    replace: "host(h) ?? origin(o ?? \"null\")",
    tests: ["transport/test/Guard.test.ts"]
  },
  {
    ids: ["HTTP-03"],
    file: "transport/src/Guard.ts",
    find: "return { check: (h, o) => host(h) ?? (o === undefined ? undefined : origin(o)) }",
    replace: "return { check: (h, o) => host(h) ?? (o === undefined || origin(o) ? undefined : origin(o)) }",
    tests: ["transport/test/StreamableHttpServer.test.ts"]
  },
  {
    ids: ["STD-01"],
    file: "transport/src/Framing.ts",
    find: "const LF = 10",
    replace: "const LF = 13",
    tests: ["transport/test/Framing.test.ts"]
  },
  {
    ids: ["XH-15"],
    file: "transport/src/McpHeaders.ts",
    find: "  for (const annotation of annotations) {\n    const value = valueAt(args, annotation.path)\n",
    replace: "  const known = new Set(annotations.map(({ header }) => paramName(header)))\n"
      + "  for (const name of Object.keys(headers)) {\n"
      + "    if (name.startsWith(paramPrefix) && !known.has(name)) return { header: name, reason: \"illegal\" }\n"
      + "  }\n"
      + "  for (const annotation of annotations) {\n    const value = valueAt(args, annotation.path)\n",
    tests: ["transport/test/McpHeaders.test.ts"]
  }
]
