/** Whatever servers answer, it is read without a throw, in little time, and what is read can be kept and used. */
import { assert, describe, it } from "@effect/vitest"
import { Challenge, Credentials, Discovery, OutboundGuard } from "@mcpfx/auth"
import { Redacted, Result, Schema } from "effect"
import { Headers } from "effect/http"
import fc from "fast-check"
import { codeOf } from "../../src/internal/authorizationAnswer.ts"
import { deviceOf } from "../../src/internal/deviceAnswer.ts"
import { registrationOf } from "../../src/internal/dynamicRegistration.ts"
import { looksLike, membersOf } from "../../src/internal/oauthAnswer.ts"
import { tidy } from "../../src/internal/serverText.ts"
import { tokensOf } from "../../src/internal/tokenAnswer.ts"
import { issuer, resource, server } from "../support/provider.ts"

const scalars = fc.oneof(
  fc.jsonValue(),
  fc.double(),
  fc.constantFrom(
    "",
    null,
    "Bearer",
    3600,
    "3600",
    1e306,
    -1,
    "1e9",
    `${issuer}/a`,
    "https://a.example/#",
    "http://[::1]/"
  )
)

/** An object of a server with members of these names laid over good ones; some are names that every object inherits. */
const objectOf = (good: Readonly<Record<string, unknown>>, ...names: ReadonlyArray<string>) =>
  fc.array(fc.tuple(fc.constantFrom(...names, "__proto__", "constructor", "toString"), scalars), { maxLength: 4 }).map(
    (members) => {
      const all = [...Object.entries(good), ...members]
      return `{${all.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value) ?? "null"}`).join(",")}}`
    }
  )

const serverNames = ["issuer", "token_endpoint", "authorization_endpoint", "scopes_supported", "jwks_uri"]
const resourceNames = ["resource", "authorization_servers", "scopes_supported", "resource_name"]
const clientNames = ["client_id", "client_secret", "client_secret_expires_at", "token_endpoint_auth_method", "error"]
const tokenNames = ["access_token", "refresh_token", "token_type", "expires_in", "scope"]
const deviceNames = [
  "device_code",
  "user_code",
  "verification_uri",
  "verification_uri_complete",
  "expires_in",
  "interval"
]

const parsed = (text: string): Readonly<Record<string, unknown>> => JSON.parse(text)

const isText = Schema.is(Schema.String)
const isTexts = Schema.is(Schema.Array(Schema.String))

describe("answers of servers", () => {
  it("[ACL-02] [ACL-04] metadata are read or not, with their own members only, of the types they have", () => {
    const text = fc.oneof(objectOf({ issuer, resource }, ...serverNames, ...resourceNames), fc.string(), fc.json())
    fc.assert(
      fc.property(text, (text) => {
        const reads: ReadonlyArray<Result.Result<object, string>> = [
          Discovery.decodeServer(text),
          Discovery.decodeResource(text)
        ]
        for (const read of reads) {
          if (Result.isFailure(read)) continue
          const own = parsed(text)
          for (const [name, value] of Object.entries(read.success)) {
            assert.isTrue(Object.hasOwn(own, name), name)
            assert.isTrue(isText(value) ? value !== "" : isTexts(value), name)
          }
          assert.strictEqual(Object.getPrototypeOf(read.success), Object.prototype)
        }
      }),
      { numRuns: 500 }
    )
  })

  it("[ACL-04] addresses of metadata are of the origin that was named, and none are asked twice", () => {
    fc.assert(fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), (url) => {
      const { hash, origin, search } = new URL(url)
      const addresses = Discovery.serverAddresses(url)
      assert.strictEqual(addresses.length > 0, hash === "" && search === "")
      for (const address of addresses) assert.strictEqual(new URL(address).origin, origin)
      const asked = Discovery.resourceAddresses(new URL(url), url)
      assert.strictEqual(new Set(asked).size, asked.length)
      assert.isTrue(Discovery.covers(Discovery.canonicalResource(new URL(url)), new URL(url)))
    }))
  })

  it("[ACL-11] what a registration comes to can be kept", () => {
    const keep = Schema.encodeUnknownResult(Schema.toCodecJson(Credentials.Registration))
    const text = objectOf({ client_id: "c", client_secret: "s" }, ...clientNames)
    fc.assert(
      fc.property(text, fc.constantFrom(200, 201, 400, 503), (text, status) => {
        const body = parsed(text)
        const read = registrationOf(server(), `${issuer}/register`, { status, body }, ["http://127.0.0.1/callback"])
        if (Result.isSuccess(read)) assert.isTrue(Result.isSuccess(keep(read.success)), text)
      }),
      { numRuns: 2000 }
    )
  })

  it("[field AUT-18] what tokens come to can be kept, and is read again as it was", () => {
    const codec = Schema.fromJsonString(Schema.toCodecJson(Credentials.Tokens))
    const expected = { scopes: ["a"], clientId: "c", dpop: "off", sentAt: 1 } as const
    fc.assert(
      fc.property(objectOf({ access_token: "t" }, ...tokenNames), (text) => {
        const read = tokensOf(parsed(text), expected)
        if (Result.isFailure(read)) return
        const again = Schema.decodeUnknownSync(codec)(Schema.encodeSync(codec)(read.success))
        assert.strictEqual(Redacted.value(again.accessToken), Redacted.value(read.success.accessToken))
        assert.deepStrictEqual([again.scopes, again.expiresAt], [read.success.scopes, read.success.expiresAt])
      }),
      { numRuns: 500 }
    )
  })

  it("what a device is told has pages that are safe to open and times that can be waited", () => {
    fc.assert(
      fc.property(objectOf({ device_code: "d", user_code: "u", verification_uri: issuer }, ...deviceNames), (text) => {
        const read = deviceOf(parsed(text), resource)
        if (Result.isFailure(read)) return
        assert.match(read.success.verificationUri, /^https:/)
        for (const seconds of [read.success.expiresIn, read.success.interval]) {
          assert.isTrue(seconds > 0 && seconds <= 3600, String(seconds))
        }
      }),
      { numRuns: 500 }
    )
  })

  it("any body is an object or none, in whichever coding", () => {
    const types = fc.constantFrom(
      "",
      "application/json",
      "application/x-www-form-urlencoded",
      "text/html",
      "text/plain"
    )
    const body = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.json(),
      objectOf({ access_token: "t" }, ...tokenNames),
      fc.webQueryParameters()
    )
    fc.assert(fc.property(body, types, (body, type) => {
      const answer = { body, headers: Headers.fromInput({ "content-type": type }) }
      const members = membersOf(answer)
      assert.isTrue(members === undefined || (typeof members === "object" && !Array.isArray(members)))
      assert.notInclude(looksLike(answer), "access_token")
    }))
  })

  it("long texts made to be slow take no time", () => {
    const many = 100_000
    const slow = [
      "a=",
      "a=b&",
      "\\\"",
      "\"\\",
      " ",
      ",",
      ", ",
      "Bearer ",
      "a =",
      "::",
      "%25",
      "1.",
      "<",
      "\ud800",
      "{",
      "[["
    ]
    for (const piece of slow) {
      const text = piece.repeat(many)
      const start = performance.now()
      Challenge.parse(text)
      Challenge.parse(`Bearer ${text}`)
      Challenge.parse(`Bearer a="${text}`)
      Challenge.print({ scheme: text, parameters: [[text, text]] })
      membersOf({ body: text, headers: Headers.empty })
      tidy(text, [text.slice(0, 100)])
      Discovery.decodeServer(text)
      Discovery.serverAddresses(text)
      OutboundGuard.classify(text)
      OutboundGuard.classifyHost(text)
      const answer = new URL(`http://127.0.0.1/callback?${text}`)
      codeOf(answer, { server: server({}), state: "s".repeat(43) })
      tokensOf({ access_token: "t", scope: text, expires_in: text }, {
        scopes: undefined,
        clientId: undefined,
        dpop: "off",
        sentAt: 0
      })
      assert.isBelow(performance.now() - start, 3000, piece)
    }
  })
})
