/** The least that a program of Effect needs to answer lines: what mcpfx runs on, and nothing of mcpfx. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ id: Schema.Int, method: Schema.String })))

const result = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: {} },
  serverInfo: { name: "hello", version: "1.0.0" }
}

const answer = (line: string): string => `${JSON.stringify({ jsonrpc: "2.0", id: decode(line).id, result })}\n`

Stdio.Stdio.pipe(
  Effect.flatMap(({ stdin, stdout }) =>
    stdin.pipe(Stream.decodeText(), Stream.splitLines, Stream.map(answer), Stream.run(stdout()))
  ),
  Effect.provide(NodeStdio.layer),
  NodeRuntime.runMain
)
