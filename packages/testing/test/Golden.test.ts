import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { McpClient, Negotiation } from "@mcpfx/client"
import { Golden, ScriptedServer } from "@mcpfx/testing"
import { ClientTransport } from "@mcpfx/transport"
import { Effect, FileSystem, Result } from "effect"

const transcript: Golden.Transcript = [
  { from: "client", message: { method: "b", id: 1, params: { z: [{ y: 1, x: 2 }], a: null } } },
  { from: "server", message: { id: 1, result: {} } }
]
const text =
  "> {\"id\":1,\"method\":\"b\",\"params\":{\"a\":null,\"z\":[{\"x\":2,\"y\":1}]}}\n< {\"id\":1,\"result\":{}}\n"

describe("Golden", () => {
  it("writes a line for each message with its keys in order, and reads it back", () => {
    assert.strictEqual(Golden.stringify(transcript), text)
    assert.strictEqual(Golden.stringify(Golden.parse(`# a comment\n\n${text}> not json\n`)), text)
  })

  it("compares whatever the order of keys, and names the first difference", () => {
    const read = Golden.parse(text)
    assert.isTrue(Result.isSuccess(Golden.compare(transcript, read)))
    const different = Result.getFailure(Golden.compare(read, [{ from: "server", message: 1 }, ...read.slice(1)]))
    assert.include(JSON.stringify(different), "\"at\":1")
    const shorter = Golden.compare(read, read.slice(0, 1))
    assert.isTrue(Result.isFailure(shorter))
    if (Result.isFailure(shorter)) {
      assert.strictEqual(
        shorter.failure.message,
        "message 2\n  expected < {\"id\":1,\"result\":{}}\n  actual   no more"
      )
    }
    const longer = Golden.compare(read.slice(0, 1), read)
    assert.include(Result.isFailure(longer) ? longer.failure.message : "", "expected no more")
  })

  it.effect("records both directions of a conversation", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedServer.make({
        "server/discover": ScriptedServer.discovered({ tools: {} }),
        "tools/list": ScriptedServer.result({ tools: [], ttlMs: 0, cacheScope: "private", resultType: "complete" })
      })
      const recorder = Golden.record(server.transport)
      const client = yield* McpClient.make().pipe(
        Effect.provideService(ClientTransport.ClientTransport, recorder.transport),
        Effect.provideService(Negotiation.CurrentEraCache, Negotiation.makeEraCache())
      )
      yield* client.tools
      const entries = recorder.transcript()
      assert.deepStrictEqual(entries.map(({ from }) => from), ["client", "server", "client", "server"])
      assert.deepInclude(entries[2]?.message, { id: 2, method: "tools/list" })
    }))

  it.layer(NodeServices.layer)("with files", (it) => {
    it.effect("writes a file that is not there, then compares with it, and writes it anew when told to", () =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        const path = `${yield* files.makeTempDirectoryScoped()}/deep/down/a.txt`
        yield* Golden.check(path, transcript)
        assert.strictEqual(yield* files.readFileString(path), text)
        yield* Golden.check(path, transcript)
        const other = transcript.slice(0, 1)
        assert.strictEqual((yield* Effect.flip(Golden.check(path, other)))._tag, "Different")
        yield* Golden.check(path, other, { update: true })
        yield* Golden.check(path, other)
      }))

    it.effect("masks what differs from run to run", () =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        const path = `${yield* files.makeTempDirectoryScoped()}/a.txt`
        const mask: Golden.Mask = ({ from }) => ({ from, message: "masked" })
        yield* Golden.check(path, transcript, { mask })
        yield* Golden.check(path, [...transcript].map(({ from }) => ({ from, message: Math.random() })), { mask })
      }))

    it.effect("fails on a file that cannot be read", () =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        const folder = yield* files.makeTempDirectoryScoped()
        assert.strictEqual((yield* Effect.flip(Golden.check(folder, transcript)))._tag, "PlatformError")
      }))
  })
})
