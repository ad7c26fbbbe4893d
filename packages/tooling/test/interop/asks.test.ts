/** Our client, asked by servers of other makes. */
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { ClientElicitation, ClientRoots, ClientSampling, McpClient } from "@mcpfx/client"
import { Revisions } from "@mcpfx/schema"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import * as Asks from "../../src/interop/asks.ts"
import { root } from "../../src/root.ts"

const fileOf = (program: string): string => join(root, "packages/tooling/src/interop", `${program}.ts`)

const roots = [{ uri: "file:///work", name: "work" }]

const Handlers = Layer.mergeAll(
  ClientElicitation.layerForm(({ message }) =>
    Effect.succeed(message === Asks.question ? ClientElicitation.accept({ name: "Ada" }) : ClientElicitation.cancel)
  ),
  ClientSampling.layer(() => Effect.succeed(ClientSampling.text("42", "deep"))),
  ClientRoots.layer(roots)
)

for (const program of ["sdk1Asks", "sdk2Asks"]) {
  for (const { version } of Revisions.all) {
    if (program === "sdk1Asks" && version === "2026-07-28") continue
    const form = version >= "2025-06-18"
    it.live(`${program} is answered on ${version}`, () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const { content: [block] } = yield* client.callTool(Asks.tool, { form })
        assert.strictEqual(block?.type, "text")
        const answers: unknown = JSON.parse(block?.type === "text" ? block.text : "")
        assert.deepStrictEqual(answers, {
          ...(form ? { action: "accept", content: { name: "Ada", times: 1 } } : {}),
          model: "deep",
          said: { type: "text", text: "42" },
          roots
        })
      }).pipe(
        Effect.provide(
          McpClient.layerStdio({ command: [process.execPath, fileOf(program)], revisions: [version] }).pipe(
            Layer.provide(Handlers),
            Layer.provide(NodeServices.layer)
          )
        )
      ), 60_000)
  }
}
