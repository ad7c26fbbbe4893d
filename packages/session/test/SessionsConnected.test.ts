import { assert, describe, it } from "@effect/vitest"
import * as Revisions from "@mcpfx/schema/Revisions"
import * as Session from "@mcpfx/session/Session"
import * as SessionLimits from "@mcpfx/session/SessionLimits"
import * as Sessions from "@mcpfx/session/Sessions"
import type { Link } from "@mcpfx/transport/Link"
import { TransportClosed } from "@mcpfx/transport/TransportError"
import { Deferred, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { handler } from "./fixtures.ts"

const factory = Layer.succeed(Sessions.SessionFactory, {
  make: (seed) => Session.make({ ...seed, role: "server", revisions: Revisions.all, handler: handler() })
})
const connected = (limits: Partial<SessionLimits.Limits> = {}) =>
  Sessions.layerConnected.pipe(
    Layer.provide(Layer.merge(factory, SecureRandom.layerWebCrypto)),
    Layer.provide(SessionLimits.layer(limits))
  )

/** A connection, and how it is lost. */
const connection = Effect.map(Deferred.make<TransportClosed>(), (gone) => {
  const link: Link = {
    id: "connection",
    send: () => Effect.void,
    closed: Deferred.await(gone),
    agreed: () => Effect.void
  }
  return { link, lose: Deferred.succeed(gone, new TransportClosed({ reason: "closed by peer" })) }
})

describe("of connections", () => {
  it.effect("[HTTP-35] a session has an unguessable id, which nobody outside of its connection can use", () =>
    Effect.gen(function*() {
      const sessions = yield* Sessions.Sessions
      const { link } = yield* connection
      const session = yield* sessions.open({ principalKey: "", link })
      assert.match(session.id, /^[A-Za-z0-9_-]{24}$/)
      const lost = { _tag: "SessionNotFound", sessionId: session.id } as const
      assert.deepInclude(yield* Effect.flip(sessions.get(session.id, "")), lost)
      assert.deepInclude(yield* Effect.flip(sessions.terminate(session.id, "")), lost)
      assert.strictEqual(yield* sessions.count, 1)
    }).pipe(Effect.provide(connected())))

  it.effect("a session lasts as long as its connection, however idle it is, and leaves its place", () =>
    Effect.gen(function*() {
      const sessions = yield* Sessions.Sessions
      const { link, lose } = yield* connection
      const session = yield* sessions.open({ principalKey: "", link })
      assert.deepInclude(yield* Effect.flip(sessions.open({ principalKey: "", link })), { limit: 1, scope: "endpoint" })
      yield* TestClock.adjust("365 days")
      assert.strictEqual(yield* sessions.count, 1)
      yield* lose
      assert.strictEqual(yield* session.closed, "disconnected")
      assert.strictEqual(yield* sessions.count, 0)
      yield* sessions.open({ principalKey: "", link: (yield* connection).link })
    }).pipe(Effect.provide(connected({ sessions: 1 }))))

  it.effect("closing the layer closes them", () =>
    Effect.gen(function*() {
      const { link } = yield* connection
      const open = Effect.flatMap(Sessions.Sessions, (sessions) => sessions.open({ principalKey: "", link }))
      const session = yield* Effect.provide(open, connected())
      assert.strictEqual(yield* session.closed, "shutdown")
    }))
})
