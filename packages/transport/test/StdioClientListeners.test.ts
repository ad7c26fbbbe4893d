import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import * as StdioClient from "@mcpfx/transport/StdioClient"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { endpoint } from "./support/scripted.ts"

const events = ["SIGINT", "SIGTERM", "SIGHUP", "exit", "beforeExit", "uncaughtException", "unhandledRejection"] as const
const listeners = (): ReadonlyArray<number> => events.map((event) => process.listenerCount(event))
const peer = fileURLToPath(new URL("./fixtures/peer.mjs", import.meta.url))
const client = endpoint(() => Effect.succeed({}))

layer(NodeServices.layer, { excludeTestServices: true })("listeners of the process", (it) => {
  it.effect(
    "[MEM-04] are as many after twenty failed connections, and after ten that were closed, as before",
    () =>
      Effect.gen(function*() {
        const before = listeners()
        for (let i = 0; i < 20; i++) {
          const failure = yield* Effect.flip(
            Effect.scoped(StdioClient.connect(client, { command: ["no-such-program-here"] }))
          )
          assert.strictEqual(failure._tag, "SpawnFailed")
        }
        assert.deepStrictEqual(listeners(), before)
        for (let i = 0; i < 10; i++) {
          yield* Effect.scoped(StdioClient.connect(client, { command: [process.execPath, peer, "echo"] }))
        }
        assert.deepStrictEqual(listeners(), before)
      }),
    30_000
  )
})
