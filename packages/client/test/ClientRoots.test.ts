import { assert, it } from "@effect/vitest"
import { ClientRoots, McpClient } from "@mcpfx/client"
import { Codes, type Roots } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { ClientTransport } from "@mcpfx/transport"
import { Cause, Deferred, Effect, Exit, Layer, Queue, Ref, Stream, SubscriptionRef } from "effect"
import { ask, connected, declaredTo, speaking, stateful } from "./support/asks.ts"
import { settle } from "./support/client.ts"

const method = "roots/list"
const work = { uri: "file:///home/ada/work", name: "work" }
const home = { uri: "file:///home/ada" }
const changes = (server: ScriptedServer.ScriptedServer) =>
  server.methods().filter((name) => name === "notifications/roots/list_changed").length

for (const version of stateful) {
  it.effect(`[ROO-02] a live list is told of on ${version}`, () =>
    Effect.gen(function*() {
      const server = yield* ScriptedServer.make(speaking(version))
      const roots = yield* SubscriptionRef.make<ReadonlyArray<Roots.Root>>([work])
      yield* connected(server, ClientRoots.layerRef(roots), { revisions: [version] })
      assert.deepStrictEqual(declaredTo(server), { roots: { listChanged: true } })
      assert.deepStrictEqual(yield* ask(server, method, undefined, 1), { result: { roots: [work] } })
      yield* settle
      assert.strictEqual(changes(server), 0)
      yield* SubscriptionRef.set(roots, [work, home])
      yield* server.expect("notifications/roots/list_changed")
      assert.deepStrictEqual(yield* ask(server, method, {}, 2), { result: { roots: [work, home] } })
      assert.strictEqual(changes(server), 1)
    }))
}

it.effect("[ROO-02] 2026-07-28 has no word for changes, and none is declared or sent", () =>
  Effect.gen(function*() {
    const server = yield* ScriptedServer.make(speaking("2026-07-28"))
    const roots = yield* SubscriptionRef.make<ReadonlyArray<Roots.Root>>([])
    yield* connected(server, ClientRoots.layerRef(roots))
    assert.deepStrictEqual(declaredTo(server), { roots: {} })
    yield* SubscriptionRef.set(roots, [work])
    yield* settle
    assert.strictEqual(changes(server), 0)
  }))

it.effect("[ROO-03] a fixed list declares no changes, and one that breaks is -32603", () =>
  Effect.gen(function*() {
    const server = yield* ScriptedServer.make(speaking("2025-11-25"))
    yield* connected(server, ClientRoots.layer([work]))
    assert.deepStrictEqual(declaredTo(server), { roots: {} })
    assert.deepStrictEqual(yield* ask(server, method), { result: { roots: [work] } })
    const other = yield* ScriptedServer.make(speaking("2025-11-25"))
    yield* connected(other, ClientRoots.layer(Effect.die("gone")))
    assert.strictEqual((yield* ask(other, method)).error?.code, Codes.internalError)
  }))

it.effect("[ROO-04] a list can be worked out each time it is asked for", () =>
  Effect.gen(function*() {
    const server = yield* ScriptedServer.make(speaking("2025-11-25"))
    const list = yield* Ref.make<ReadonlyArray<Roots.Root>>([work])
    yield* connected(server, ClientRoots.layer(Ref.get(list)))
    assert.deepStrictEqual(yield* ask(server, method, {}, 1), { result: { roots: [work] } })
    yield* Ref.set(list, [])
    assert.deepStrictEqual(yield* ask(server, method, {}, 2), { result: { roots: [] } })
  }))

it.effect("[ROO-01] what is no file: URI is not sent", () =>
  Effect.gen(function*() {
    for (const uri of ["https://example.com/", "/home/ada", "file:/home", "", "FILE"]) {
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(ClientRoots.layer([{ uri }]))))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause), uri)
      const server = yield* ScriptedServer.make(speaking("2025-11-25"))
      yield* connected(server, ClientRoots.layer(Effect.succeed([work, { uri }])))
      assert.strictEqual((yield* ask(server, method)).error?.code, Codes.internalError, uri)
    }
    assert.isTrue(ClientRoots.isRootUri("file://server/share"))
  }))

it.effect("[ROO-02] a stream of lists: its first element is waited for, each further one is told of", () =>
  Effect.gen(function*() {
    const server = yield* ScriptedServer.make(speaking("2025-11-25"))
    const lists = yield* Queue.unbounded<ReadonlyArray<Roots.Root>>()
    yield* connected(server, ClientRoots.layerStream(Stream.fromQueue(lists)))
    yield* server.send({ jsonrpc: "2.0", id: 1, method })
    yield* settle
    assert.strictEqual(server.received().some((message) => "id" in message && "result" in message), false)
    yield* Queue.offer(lists, [work])
    const answer = yield* server.expectMessage("roots", (message) => "result" in message)
    assert.deepInclude(answer, { id: 1, result: { roots: [work] } })
    yield* Queue.offer(lists, [home])
    yield* server.expect("notifications/roots/list_changed")
    assert.deepStrictEqual(yield* ask(server, method, {}, 2), { result: { roots: [home] } })
    assert.strictEqual(changes(server), 1)
  }))

it.effect("[ROO-02] a change connects nobody", () =>
  Effect.gen(function*() {
    const server = yield* ScriptedServer.make(speaking("2025-11-25"))
    const roots = yield* SubscriptionRef.make<ReadonlyArray<Roots.Root>>([])
    const told = yield* Deferred.make<void>()
    yield* Layer.build(
      McpClient.layer({ lazy: true }).pipe(
        Layer.provide(ClientRoots.layerRef(roots)),
        Layer.provide(Layer.succeed(ClientTransport.ClientTransport, server.transport))
      )
    )
    yield* Effect.andThen(SubscriptionRef.set(roots, [work]), Deferred.succeed(told, undefined))
    yield* settle
    assert.strictEqual(server.connections().made, 0)
  }))
