import { assert, describe, it } from "@effect/vitest"
import { type AuthError, DeviceAuthorization } from "@mcpfx/auth"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import {
  type Answer,
  good,
  issuer,
  provider,
  type Reply,
  requestTo,
  resource,
  secret,
  server
} from "./support/provider.ts"

const device = {
  device_code: "the-device-code",
  user_code: "WDJB-MJHT",
  verification_uri: "https://login.example.com/device",
  verification_uri_complete: "https://login.example.com/device?user_code=WDJB-MJHT",
  expires_in: 1800,
  interval: 5
}

const refusal = (error: string): Reply => ({ status: 400, body: { error } })
const pending = refusal("authorization_pending")

interface Setup {
  readonly device?: object
  readonly token?: Answer
  readonly options?: Partial<DeviceAuthorization.Options>
  readonly metadata?: Parameters<typeof server>[0]
}

const setUp = (setup: Setup = {}) => {
  const shown: Array<DeviceAuthorization.Prompt> = []
  let polls = 0
  const as = provider((asked) => {
    const path = new URL(asked.url).pathname
    if (path === "/register") return { status: 201, body: { client_id: "dynamic-1" } }
    return path === "/device" ? { body: setup.device ?? device } : (setup.token ?? (() => good))(asked, ++polls)
  })
  const { kept, request } = requestTo(as.endpoint(), { scopes: ["read"], server: server(setup.metadata) })
  const grant = DeviceAuthorization.grant({
    client: { issuer, clientId: "tv" },
    show: (prompt) => Effect.sync(() => void shown.push(prompt)),
    ...setup.options
  })
  return { as, grant, kept, obtain: grant.obtain(request), polls: () => polls, request, shown }
}

/** The seconds after which the server was asked, until the login ended in the given time. */
const timesOf = Effect.fnUntraced(function*(setup: Setup, seconds: number) {
  const times: Array<number> = []
  let now = 0
  const { obtain } = setUp({
    ...setup,
    token: (asked, count) => {
      times.push(now)
      return (setup.token ?? (() => pending))(asked, count)
    }
  })
  const fiber = yield* Effect.forkChild(obtain, { startImmediately: true })
  for (; now < seconds && fiber.pollUnsafe() === undefined; now++) {
    yield* TestClock.adjust(now === 0 ? 0 : "1 second")
  }
  yield* Fiber.interrupt(fiber)
  return { times }
})

const reasonAfter = Effect.fnUntraced(function*(setup: Setup, seconds: number) {
  const fiber = yield* Effect.forkChild(Effect.flip(setUp(setup).obtain), { startImmediately: true })
  yield* TestClock.adjust(`${seconds} seconds`)
  return (yield* Fiber.join(fiber)).reason
})

describe("the way there", () => {
  it.effect("shows the code, and asks for the tokens after the pause (RFC 8628, 3.3)", () =>
    Effect.gen(function*() {
      const { as, obtain, polls, shown } = setUp()
      const fiber = yield* Effect.forkChild(obtain, { startImmediately: true })
      yield* TestClock.adjust("4 seconds")
      assert.deepStrictEqual(shown, [{
        issuer,
        resource,
        userCode: "WDJB-MJHT",
        verificationUri: "https://login.example.com/device",
        verificationUriComplete: "https://login.example.com/device?user_code=WDJB-MJHT",
        expiresIn: 1800
      }])
      assert.strictEqual(polls(), 0)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual((yield* Fiber.join(fiber)).scopes, ["read"])
      assert.deepStrictEqual(as.at("/device")[0]?.form, { client_id: "tv", resource, scope: "read" })
      assert.deepStrictEqual(as.at("/token")[0]?.form, {
        grant_type: "urn:ietf:params:oauth:grant-type:device_code",
        device_code: "the-device-code",
        client_id: "tv",
        resource
      })
    }))

  it.effect("registers itself for this flow where it is not known, without an address to come back to", () =>
    Effect.gen(function*() {
      const { as, kept, obtain } = setUp({ options: { client: undefined } })
      const fiber = yield* Effect.forkChild(obtain, { startImmediately: true })
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(fiber)
      const { grant_types, redirect_uris, response_types } = JSON.parse(as.at("/register")[0]?.body ?? "")
      assert.deepStrictEqual(grant_types, ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"])
      assert.deepStrictEqual(response_types, [])
      assert.isUndefined(redirect_uris)
      assert.strictEqual(kept.registration?.clientId, "dynamic-1")
    }))

  it.effect("[SEC-10] shows no address but a page, and no answer without a code", () =>
    Effect.gen(function*() {
      const bad: ReadonlyArray<object> = [
        { verification_uri: "javascript:alert(1)" },
        { verification_uri: "http://login.example.com/device" },
        { verification_uri: "https://user:pw@login.example.com/" },
        { verification_uri: "" },
        { device_code: "" },
        { user_code: null }
      ]
      for (const change of bad) {
        const { obtain, shown } = setUp({ device: { ...device, ...change } })
        assert.strictEqual((yield* Effect.flip(obtain)).reason._tag, "BadAnswer")
        assert.strictEqual(shown.length, 0)
      }
      const odd = { ...device, verification_uri_complete: "javascript:alert(1)", user_code: "A\u0000B\u202EC" }
      const { obtain, shown } = setUp({ device: odd })
      const fiber = yield* Effect.forkChild(obtain, { startImmediately: true })
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(fiber)
      assert.strictEqual(shown[0]?.userCode, "A B C")
      assert.isUndefined(shown[0]?.verificationUriComplete)
      const { device_authorization_endpoint: _, ...without } = server().metadata
      const lacking = setUp()
      const metadata = { ...lacking.request.server, metadata: without }
      const error = yield* Effect.flip(lacking.grant.obtain({ ...lacking.request, server: metadata }))
      assert.strictEqual(error.reason._tag, "NotSupported")
    }))
})

describe("the wait", () => {
  it.effect("asks at the server's pace, and 5 seconds slower each time it says so", () =>
    Effect.gen(function*() {
      const script = [pending, refusal("slow_down"), pending, refusal("slow_down")]
      const { times } = yield* timesOf({ token: (_, count) => script[count - 1] ?? pending }, 61)
      assert.deepStrictEqual(times, [5, 10, 20, 30, 45, 60])
    }))

  it.effect("[field AUT-21] asks half as often while the server is not there, or as late as it says", () =>
    Effect.gen(function*() {
      const { times } = yield* timesOf({ token: (_, count) => count < 4 ? undefined : pending }, 120)
      assert.deepStrictEqual(times, [5, 15, 35, 75, 115])
      const later: Reply = { status: 503, headers: { "retry-after": "30" } }
      const told = yield* timesOf({ token: (_, count) => count === 1 ? later : pending }, 70)
      assert.deepStrictEqual(told.times, [5, 35, 65])
    }))

  it.effect("never asks at a pace that is none", () =>
    Effect.gen(function*() {
      const cases = [[0, 5], [-1, 5], [null, 5], ["2", 2], [0.001, 1], [1e9, 60]] as const
      for (const [interval, pause] of cases) {
        const { times } = yield* timesOf({ device: { ...device, interval } }, 62)
        assert.strictEqual(times[0], pause)
      }
    }))

  it.effect("ends when it is denied, when the code is stale, and at the end of its time", () =>
    Effect.gen(function*() {
      const denied = yield* reasonAfter({ token: () => refusal("access_denied") }, 5)
      assert.strictEqual(denied._tag, "LoginDenied")
      const stale = yield* reasonAfter({ token: (_, count) => count < 3 ? pending : refusal("expired_token") }, 15)
      assert.deepStrictEqual([stale._tag, millisOf(stale)], ["LoginTimedOut", 15_000])
      const late = yield* reasonAfter({ token: () => pending, device: { ...device, expires_in: 60 } }, 60)
      assert.deepStrictEqual([late._tag, millisOf(late)], ["LoginTimedOut", 60_000])
      const impatient = yield* reasonAfter({ token: () => pending, options: { timeout: "7 seconds" } }, 7)
      assert.deepStrictEqual([impatient._tag, millisOf(impatient)], ["LoginTimedOut", 7_000])
      const other = yield* reasonAfter({ token: () => refusal("invalid_grant") }, 5)
      assert.strictEqual(other._tag, "OAuthRefused")
      const wrong = yield* reasonAfter({ token: () => ({ body: "<html>" }) }, 5)
      assert.strictEqual(wrong._tag, "BadAnswer")
    }))

  it.effect("knows an end where the server names none, or one far away", () =>
    Effect.gen(function*() {
      for (const [expires_in, seconds] of [[undefined, 600], [-1, 600], [1e99, 3600]] as const) {
        const reason = yield* reasonAfter({ token: () => pending, device: { ...device, expires_in } }, seconds)
        assert.strictEqual(millisOf(reason), seconds * 1000)
      }
    }))

  it.effect("proves a client with a secret at both endpoints", () =>
    Effect.gen(function*() {
      const client = { issuer, clientId: "tv", clientSecret: secret("s3cret") }
      const { as, obtain } = setUp({ options: { client } })
      const fiber = yield* Effect.forkChild(obtain, { startImmediately: true })
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(fiber)
      const proof = `Basic ${btoa("tv:s3cret")}`
      assert.deepStrictEqual(as.asked.map(({ headers }) => headers["authorization"]), [proof, proof])
    }))
})

const millisOf = (reason: AuthError.Reason): number => reason._tag === "LoginTimedOut" ? reason.millis : -1
