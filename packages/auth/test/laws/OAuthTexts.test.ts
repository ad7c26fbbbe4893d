import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import fc from "fast-check"
import { codeOf } from "../../src/internal/authorizationAnswer.ts"
import { authorizationUrl } from "../../src/internal/authorizationRequest.ts"
import { basic } from "../../src/internal/clientAuthentication.ts"
import { clientIdFault } from "../../src/internal/clientId.ts"
import { redirectFault } from "../../src/internal/redirectUris.ts"
import { formEncode, tidy } from "../../src/internal/serverText.ts"
import { tokensOf } from "../../src/internal/tokenAnswer.ts"
import { issuer, resource, server } from "../support/provider.ts"

const text = fc.string({ unit: "grapheme" })

/** What a server decodes a proof to (RFC 6749, 2.3.1 and appendix B). */
const decode = (header: string): ReadonlyArray<string> => {
  const [, encoded = ""] = header.split(" ")
  return atob(encoded).split(":").map((part) => decodeURIComponent(part.replaceAll("+", " ")))
}

describe("laws", () => {
  it("any id and secret survive basic, in two parts", () => {
    fc.assert(fc.property(text, text, (id, secret) => {
      assert.deepStrictEqual(decode(basic(id, secret)), [id, secret])
    }))
  })

  it("any text survives form encoding, in ASCII", () => {
    fc.assert(fc.property(text, (value) => {
      assert.match(formEncode(value), /^[\w.*+%-]*$/)
      assert.strictEqual(new URLSearchParams(`a=${formEncode(value)}`).get("a"), value)
    }))
  })

  it("what is shown of a server's words is short and printable, and has no long part of a secret", () => {
    const secret = fc.string({ minLength: 12, maxLength: 64 })
    fc.assert(fc.property(secret, text, text, fc.nat(4), (value, before, after, cut) => {
      const shown = tidy(`${before}${value.slice(cut)}${after}`, [value]) ?? ""
      assert.isAtMost(shown.length, 200)
      assert.notMatch(shown, /[\p{C}\p{Zl}\p{Zp}]/u)
      for (let at = 0; at + 8 <= shown.length; at++) assert.isFalse(value.includes(shown.slice(at, at + 8)))
    }))
  })

  it("an address of a page has every parameter once, as it was given, whatever was there before", () => {
    const names = fc.constantFrom("state", "scope", "resource", "client_id")
    const parameters = fc.dictionary(names, text)
    const before = fc.array(fc.tuple(fc.oneof(names, text), text))
    fc.assert(fc.property(before, parameters, (query, wanted) => {
      const url = Result.getOrThrow(
        authorizationUrl(`${issuer}/authorize?${new URLSearchParams(query)}`, resource, wanted)
      )
      for (const [name, value] of Object.entries({ ...wanted, resource })) {
        assert.deepStrictEqual(url.searchParams.getAll(name), [value])
      }
      for (const [name] of query) assert.isTrue(url.searchParams.has(name))
    }))
  })

  it("[ACL-19] no answer gives a code but with this issuer, this state, no error and one code", () => {
    const state = "s".repeat(43)
    const names = fc.constantFrom("iss", "state", "code", "error", "x")
    const values = fc.constantFrom(issuer, state, "c", "", "access_denied", `${issuer}/`, "https://evil.example")
    const pairs = fc.array(fc.tuple(names, values), { maxLength: 6 })
    fc.assert(
      fc.property(pairs, fc.boolean(), (query, advertised) => {
        const target = server(advertised ? { authorization_response_iss_parameter_supported: true } : {})
        const url = new URL(`http://127.0.0.1/callback?${new URLSearchParams(query)}`)
        const answer = codeOf(url, { server: target, state })
        const all = (name: string) => url.searchParams.getAll(name).join("|")
        const isIss = all("iss") === issuer || (!advertised && all("iss") === "")
        const isRight = isIss && all("state") === state && all("error") === "" && /^[^|]+$/.test(all("code"))
        assert.strictEqual(Result.isSuccess(answer), isRight)
        if (Result.isSuccess(answer)) assert.strictEqual(answer.success, all("code"))
      }),
      { numRuns: 2_000 }
    )
  })

  it("any JSON object is tokens or a fault, and tokens fit into a header", () => {
    const members = fc.dictionary(
      fc.constantFrom("access_token", "token_type", "expires_in", "scope", "refresh_token", "__proto__"),
      fc.oneof(fc.jsonValue(), fc.constantFrom("Bearer", "dpop", "t", 3600, "3600"))
    )
    fc.assert(fc.property(members, fc.constantFrom("off", "optional", "required"), (answer, dpop) => {
      const read = tokensOf(answer, { scopes: ["a"], clientId: undefined, dpop, sentAt: 0 })
      if (Result.isFailure(read)) return
      assert.match(Redacted.value(read.success.accessToken), /^[\x21-\x7e]+$/)
      assert.isTrue(read.success.expiresAt === undefined || Number.isSafeInteger(read.success.expiresAt))
      assert.isTrue(dpop !== "required" || read.success.tokenType === "DPoP")
    }))
  })

  it("[ACL-09] [ACL-22] what is taken for an address is one, without fragment, in a form that no parser changes", () => {
    const address = fc.oneof(
      text,
      fc.webUrl({ withFragments: true, withQueryParameters: true }),
      text.map((t) => `https://a.example/${t}`)
    )
    fc.assert(fc.property(address, (uri) => {
      if (clientIdFault(uri) === undefined) {
        assert.strictEqual(new URL(uri).protocol, "https:")
        assert.notInclude(uri, "#")
        assert.strictEqual(new URL(uri).pathname.split("/").length, uri.split("?")[0]?.split("/").slice(2).length)
      }
      if (redirectFault(uri) === undefined) assert.isTrue(URL.canParse(uri) && !uri.includes("#"))
    }))
  })
})
