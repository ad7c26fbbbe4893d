/** Answers and people that do not come: everybody is waited for so long, and no longer. */
import { assert, describe, it } from "@effect/vitest"
import { type AuthError, AuthorizationCode } from "@mcpfx/auth"
import { Effect, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"
import { eventually, settle } from "../../src/attacks/eventually.ts"
import { challenge } from "../../src/attacks/network.ts"
import { bearer, present } from "../../src/attacks/presented.ts"
import {
  answering,
  authorize,
  issuer,
  make,
  mcpUrl,
  openIdMetadata,
  reasonOf,
  resourceMetadata,
  rootMetadata,
  serverMetadata,
  tokenUrl,
  type World
} from "../../src/attacks/world.ts"

describe("answers that do not come", () => {
  /** What a request comes to where each of these addresses takes its time, one after the other. */
  const within = (world: World, addresses: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      const { http } = yield* authorize(world)
      const fiber = yield* Effect.forkChild(reasonOf(http.post(mcpUrl)))
      for (const address of addresses) {
        yield* eventually(`a request to ${address}`, () => world.network.at(address).length === 1)
        yield* settle
        yield* TestClock.adjust("10 seconds")
      }
      yield* eventually("an end", () => fiber.pollUnsafe() !== undefined)
      return yield* Fiber.join(fiber)
    })

  it.effect("[SEC-05] are waited for so long, headers and body together", () =>
    Effect.gen(function*() {
      const never = () => Effect.never
      const drip = () =>
        new Response(
          new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("{")) })
        )
      for (const answer of [never, drip]) {
        const rows: ReadonlyArray<readonly [tag: AuthError.Reason["_tag"], at: ReadonlyArray<string>]> = [
          ["Unavailable", [resourceMetadata, rootMetadata]],
          ["Unavailable", [serverMetadata, openIdMetadata]],
          ["Unavailable", [tokenUrl]],
          ["Unavailable", [`${issuer}/register`]]
        ]
        for (const [tag, addresses] of rows) {
          const world = yield* make()
          for (const address of addresses) world.network.on(address, answer)
          assert.strictEqual((yield* within(world, addresses))._tag, tag, addresses.join())
        }
      }
    }))

  it.effect("[ARS-06] of keys are not waited for by each request anew", () =>
    Effect.gen(function*() {
      const world = yield* make()
      world.inside.on(`${issuer}/jwks`, () => Effect.never)
      const token = yield* world.login.issueToken({ claims: { aud: mcpUrl, scope: "sums" } })
      const fibers = yield* Effect.forEach(
        Array.from({ length: 50 }),
        () => Effect.forkChild(present(world, { headers: bearer(token) }))
      )
      yield* eventually("a look at the keys", () => world.inside.at(`${issuer}/jwks`).length > 0)
      yield* settle
      yield* TestClock.adjust("6 seconds")
      for (const { status } of yield* Effect.forEach(fibers, Fiber.join)) assert.strictEqual(status, 503)
      assert.strictEqual(world.inside.at(`${issuer}/jwks`).length, 1)
    }).pipe(Effect.provide(Logger.layer([]))))
})

describe("a login page", () => {
  it.effect("[ACL-30] that nobody comes back from is waited for so long", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const agent = answering(() => Effect.never)
      const { http } = yield* authorize(world, { agent, grant: AuthorizationCode.grant({ timeout: "1 minute" }) })
      const fiber = yield* Effect.forkChild(reasonOf(http.post(mcpUrl)))
      yield* eventually("a page", () => agent.opened.length === 1)
      yield* settle
      yield* TestClock.adjust("61 seconds")
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "LoginTimedOut", issuer, millis: 60_000 })
    }))

  it.effect("[ACL-01] a challenge in place of metadata is no metadata", () =>
    Effect.gen(function*() {
      const world = yield* make()
      world.network.on(serverMetadata, () => challenge("")).on(openIdMetadata, () => challenge(""))
      const { http } = yield* authorize(world)
      assert.strictEqual((yield* reasonOf(http.post(mcpUrl)))._tag, "DiscoveryFailed")
      assert.strictEqual(world.network.at(serverMetadata).length, 1)
    }))
})
