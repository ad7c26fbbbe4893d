/** Many at once, some of whom go away in the middle. */
import { assert, describe, it } from "@effect/vitest"
import { TokenStore } from "@mcpfx/auth"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { eventually, settle } from "../../src/attacks/eventually.ts"
import { challenge, type Seen } from "../../src/attacks/network.ts"
import {
  Add,
  type Authority,
  authorize,
  browserWith,
  connect,
  issuer,
  make,
  mcpUrl,
  reasonOf,
  tokenUrl,
  type World
} from "../../src/attacks/world.ts"

const crowd = Array.from({ length: 100 }, (_, at) => at)

const tokenOf = ({ headers }: Seen): string => headers["authorization"]?.replace("Bearer ", "") ?? ""

const counts = ({ login }: { readonly login: Authority }) =>
  Effect.all({
    register: login.count("register"),
    authorize: login.count("authorize"),
    token: login.count("token"),
    revoke: login.count("revoke")
  })

/** Somebody who is logged in with a token that the server takes no more. */
const expired = Effect.gen(function*() {
  const world = yield* make()
  const store = yield* TokenStore.makeMemory
  const client = yield* authorize(world, { store })
  yield* client.http.post(mcpUrl)
  const [old = ""] = world.network.secrets.of("access token")
  world.network.on(mcpUrl, (seen: Seen) => tokenOf(seen) === old ? challenge("error=\"invalid_token\"") : "real")
  yield* world.login.clearRequests
  world.network.forget()
  return { ...world, ...client, store, old }
})

/** Requests for tokens wait until the gate opens. */
const gated = ({ network }: Pick<World, "network">) =>
  Effect.map(Deferred.make<void>(), (gate) => {
    network.on(tokenUrl, () => Effect.as(Deferred.await(gate), "real" as const))
    return {
      reached: eventually("a request for tokens", () => network.at(tokenUrl).length > 0),
      open: Deferred.succeed(gate, undefined)
    }
  })

describe("a hundred at once", () => {
  it.effect("[field AUT-06] without a token log in once", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const { http } = yield* authorize(world)
      const answers = yield* Effect.forEach(crowd, () => http.post(mcpUrl), { concurrency: "unbounded" })
      assert.isTrue(answers.every(({ status }) => status !== 401 && status !== 403))
      assert.deepStrictEqual(yield* counts(world), { register: 1, authorize: 1, token: 1, revoke: 0 })
      assert.isAtMost(world.network.at(mcpUrl).length, 200)
      assert.deepStrictEqual(world.network.strays, [])
    }))

  it.effect("[field AUT-06] calls of the protocol do so too, and each has its own answer", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const { mcp, oauth } = yield* connect(world)
      yield* oauth.logout
      yield* world.login.clearRequests
      const sums = yield* Effect.forEach(crowd, (a) => mcp.call(Add, { a, b: 1 }), { concurrency: "unbounded" })
      assert.deepStrictEqual(sums.map(({ sum }) => sum), crowd.map((a) => a + 1))
      assert.deepInclude(yield* counts(world), { authorize: 1, token: 1 })
    }))

  it.effect("[field AUT-06] with a token that is good no more refresh once", () =>
    Effect.gen(function*() {
      const world = yield* expired
      const answers = yield* Effect.forEach(crowd, () => world.http.post(mcpUrl), { concurrency: "unbounded" })
      assert.isTrue(answers.every(({ status }) => status !== 401))
      assert.deepStrictEqual(yield* counts(world), { register: 0, authorize: 0, token: 1, revoke: 0 })
      assert.strictEqual(world.network.at(tokenUrl)[0]?.form.get("grant_type"), "refresh_token")
      assert.isAtMost(world.network.at(mcpUrl).length, 200)
    }))

  it.effect("[field AUT-06] who fail together fail with the same, once", () =>
    Effect.gen(function*() {
      const world = yield* expired
      world.network.on(tokenUrl, () => new Response("", { status: 503, headers: { "retry-after": "5" } }))
      const reasons = yield* Effect.forEach(crowd, () => reasonOf(world.http.post(mcpUrl)), {
        concurrency: "unbounded"
      })
      for (const reason of reasons) {
        assert.deepInclude(reason, { _tag: "Unavailable", status: 503, retryAfter: "5", url: tokenUrl })
      }
      assert.strictEqual(world.network.at(tokenUrl).length, 1)
    }))
})

describe("who goes away", () => {
  it.effect("[field AUT-06] in the middle of a refresh leaves it to the others", () =>
    Effect.gen(function*() {
      const world = yield* expired
      const { open, reached } = yield* gated(world)
      const fibers = yield* Effect.forEach(crowd, () => Effect.forkChild(world.http.post(mcpUrl)))
      yield* reached
      yield* Effect.forEach(fibers.filter((_, at) => at % 2 === 0), Fiber.interrupt, { concurrency: "unbounded" })
      yield* open
      for (const fiber of fibers.filter((_, at) => at % 2 === 1)) {
        assert.notStrictEqual((yield* Fiber.join(fiber)).status, 401)
      }
      assert.deepInclude(yield* counts(world), { authorize: 0, token: 1 })
    }))

  it.effect("[field AUT-06] all of them, leave a refresh that is finished and kept", () =>
    Effect.gen(function*() {
      const world = yield* expired
      const { open, reached } = yield* gated(world)
      const fibers = yield* Effect.forEach(crowd.slice(0, 10), () => Effect.forkChild(world.http.post(mcpUrl)))
      yield* reached
      const leaving = yield* Effect.forkChild(Effect.forEach(fibers, Fiber.interrupt, { concurrency: "unbounded" }))
      yield* settle
      yield* open
      yield* Fiber.join(leaving)
      yield* eventually("new tokens", () => world.network.secrets.of("access token").length === 2)
      yield* settle
      assert.notStrictEqual((yield* world.http.post(mcpUrl)).status, 401)
      assert.deepInclude(yield* counts(world), { authorize: 0, token: 1 })
      // Another process finds what was kept.
      const later = yield* authorize(world, { store: world.store })
      assert.notStrictEqual((yield* later.http.post(mcpUrl)).status, 401)
      assert.strictEqual(yield* world.login.count("token"), 1)
    }))

  it.effect("[field AUT-06] in the middle of a login leaves it to the others; all of them, and it ends", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const gate = yield* Deferred.make<void>()
      let shown = 0
      const agent = browserWith(world, (answer) => {
        shown++
        return Effect.as(Deferred.await(gate), answer)
      })
      const { http, oauth } = yield* authorize(world, { agent })
      const alone = yield* Effect.forkChild(http.post(mcpUrl))
      yield* eventually("a page", () => shown === 1)
      yield* Fiber.interrupt(alone)
      yield* settle
      assert.strictEqual((yield* oauth.status)._tag, "Anonymous")
      const fibers = yield* Effect.forEach(crowd.slice(0, 10), () => Effect.forkChild(http.post(mcpUrl)))
      yield* eventually("another page", () => shown === 2)
      yield* Effect.forEach(fibers.slice(0, 9), Fiber.interrupt, { concurrency: "unbounded" })
      yield* Deferred.succeed(gate, undefined)
      for (const fiber of fibers.slice(9)) assert.notStrictEqual((yield* Fiber.join(fiber)).status, 401)
      assert.strictEqual(shown, 2)
      assert.strictEqual(yield* world.login.count("token"), 1)
    }))
})

describe("a logout", () => {
  /** What a store has left of a login. */
  const kept = (store: TokenStore.TokenStore["Service"]) =>
    Effect.forEach(
      [["tokens", issuer, mcpUrl], ["server", mcpUrl]],
      (key) => Effect.map(store.get(JSON.stringify(key)), ({ _tag }) => _tag)
    )

  it.effect("[field AUT-06] [ACL-25] during a refresh ends what the refresh brings, too", () =>
    Effect.gen(function*() {
      const world = yield* expired
      assert.deepStrictEqual(yield* kept(world.store), ["Some", "Some"])
      const { open, reached } = yield* gated(world)
      const call = yield* Effect.forkChild(Effect.exit(world.http.post(mcpUrl)))
      yield* reached
      const logout = yield* Effect.forkChild(Effect.exit(world.oauth.logout))
      yield* settle
      yield* open
      assert.isTrue(Exit.isSuccess(yield* Fiber.join(logout)))
      assert.deepStrictEqual(yield* kept(world.store), ["None", "None"])
      assert.deepStrictEqual(yield* world.oauth.status, { _tag: "Anonymous" })
      const revoked = world.network.at(`${issuer}/revoke`).map(({ form }) => form.get("token"))
      const newest = world.network.secrets.of("refresh token").at(-1)
      assert.include(revoked, newest)
      yield* Fiber.join(call)
      // From now on nothing of it goes along.
      const before = world.network.at(mcpUrl).length
      world.network.on(mcpUrl, 200)
      yield* world.http.post(mcpUrl)
      assert.deepStrictEqual(world.network.at(mcpUrl).slice(before).map(tokenOf), [""])
      assert.deepStrictEqual(world.network.strays, [])
    }))

  it.effect("[ACL-25] during a login ends the login; who waited for it hears so", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const store = yield* TokenStore.makeMemory
      let shown = 0
      const agent = browserWith(world, () => {
        shown++
        return Effect.never
      })
      const { http, oauth } = yield* authorize(world, { agent, store })
      const fibers = yield* Effect.forEach(crowd, () => Effect.forkChild(reasonOf(http.post(mcpUrl))))
      yield* eventually("a page", () => shown === 1)
      yield* oauth.logout
      for (const fiber of fibers) assert.strictEqual((yield* Fiber.join(fiber))._tag, "LoginRequired")
      assert.deepStrictEqual([shown, yield* world.login.count("token")], [1, 0])
      assert.deepStrictEqual(yield* kept(store), ["None", "None"])
    }))

  it.effect("[ACL-25] during the request for tokens ends what that brings", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const store = yield* TokenStore.makeMemory
      const { http, oauth } = yield* authorize(world, { store })
      const { open, reached } = yield* gated(world)
      const call = yield* Effect.forkChild(Effect.exit(http.post(mcpUrl)))
      yield* reached
      const logout = yield* Effect.forkChild(Effect.exit(oauth.logout))
      yield* settle
      yield* open
      yield* Fiber.join(logout)
      yield* Fiber.join(call)
      yield* settle
      assert.deepStrictEqual(yield* oauth.status, { _tag: "Anonymous" })
      assert.deepStrictEqual(yield* kept(store), ["None", "None"])
      assert.isTrue(world.network.at(mcpUrl).every((seen) => tokenOf(seen) === ""))
    }))
})
