/** Our server and our client with an authorization server of another make, `oidc-provider`, which is a certified one. */
import { assert } from "@effect/vitest"
import { AuthorizationCode, ClientCredentials, DeviceAuthorization, Dpop, Registration } from "@mcpfx/auth"
import { Effect, Redacted, Result } from "effect"
import { exportJWK, exportPKCS8, generateKeyPair } from "jose"
import { Browser } from "../../src/interop/auth/browser.ts"
import { startGuarded, writing } from "../../src/interop/auth/guarded.ts"
import { login, reasonOf } from "../../src/interop/auth/login.ts"
import { awkward, callback, scopes, startOidcPeer } from "../../src/interop/auth/oidcPeer.ts"
import { whoami } from "../../src/interop/auth/sdk1Guarded.ts"
import { byCode, callerOf, last, logins, member, running, withToken } from "./support/logins.ts"

const suite = "login-oidc-provider"
const modern = "2026-07-28"
const [read, write] = scopes

/** What the developer of our client would put at this address. */
const document = Result.getOrThrow(Registration.clientMetadataDocument({
  clientId: "https://app.test/oauth/client.json",
  clientName: "interop",
  redirectUris: [callback]
}))

/** Describes itself as OpenID Connect alone has it, as most providers do. */
const peers = running(async () => {
  const keys = await generateKeyPair("ES256", { extractable: true })
  const signerKey = { ...await exportJWK(keys.publicKey), alg: "ES256" }
  const peer = await startOidcPeer({ openId: true, signerKey })
  const jwt = await startGuarded(peer.issuer)
  const other = await startGuarded(peer.issuer)
  const opaque = await startGuarded(peer.issuer, { checking: "introspection" })
  const careful = await startOidcPeer({ nonces: true, documents: { [document.client_id]: document } })
  const bound = await startGuarded(careful.issuer, { dpop: { mode: "require", nonce: {} } })
  peer.serve(`${jwt.origin}/mcp`, "jwt")
  peer.serve(`${other.origin}/mcp`, "jwt")
  peer.serve(`${opaque.origin}/mcp`, "opaque")
  careful.serve(`${bound.origin}/mcp`, "jwt")
  return {
    peer,
    signer: await exportPKCS8(keys.privateKey),
    jwt: `${jwt.origin}/mcp`,
    other: `${other.origin}/mcp`,
    opaque: `${opaque.origin}/mcp`,
    bound: `${bound.origin}/mcp`,
    close: () =>
      Promise.all([peer, jwt, other, opaque, careful, bound].map(({ close }) => close())).then(() => undefined)
  }
})

const byPerson = () => ({ grant: AuthorizationCode.grant(), browser: new Browser() })

/** How a server answers somebody who comes with no more than a token. */
const presented = async (url: string, token: string): Promise<Response> =>
  fetch(url, { method: "POST", headers: { authorization: `Bearer ${token}` } })

for (const revision of ["2025-11-25", modern] as const) {
  logins(suite, revision, [
    {
      title: "[ACL-01] [ACL-04] [ACL-08] [ACL-14] [ACL-16] [ACL-19] finds it, registers and logs in by code",
      run: async (record) => {
        const { jwt, peer: { issuer } } = peers()
        const { browser, grant } = byPerson()
        const ours = await login(jwt, { grant, browser, revision, record })
        const caller = callerOf(await ours.call(whoami))
        await ours.close()
        byCode(record, browser, jwt)
        assert.strictEqual(caller.subject, "ada")
        assert.include(caller.scopes, read)
        assert.strictEqual(caller.client, member(last(record.to("/reg")), "client_id"))
        assert.deepStrictEqual(
          record.exchanges.filter(({ url }) => url.origin === issuer && url.pathname.startsWith("/.well-known/"))
            .map(({ status, url }) => `${status} ${url.pathname}`),
          ["404 /.well-known/oauth-authorization-server", "200 /.well-known/openid-configuration"]
        )
      }
    }
  ])
}

logins(suite, modern, [
  {
    title: "[ACL-29] [ARS-06] refreshes where keys have changed, each time with the token it was given last",
    run: async (record) => {
      const { jwt, peer } = peers()
      const { browser, grant } = byPerson()
      const ours = await login(jwt, { grant, browser, revision: modern, record })
      const first = record.tokenAt("/mcp")
      await peer.rotate("keep")
      assert.strictEqual(callerOf(await ours.call(whoami)).subject, "ada")
      assert.isEmpty(record.grants("refresh_token"))
      for (const _ of [1, 2]) {
        await peer.rotate("drop")
        assert.strictEqual(callerOf(await ours.call(whoami)).subject, "ada")
      }
      await ours.close()
      const used = record.grants("refresh_token").map((form) => form.get("refresh_token"))
      assert.lengthOf(new Set(used), 2)
      assert.lengthOf(used, 2)
      assert.strictEqual(last(record.grants("refresh_token")).get("resource"), jwt)
      assert.lengthOf(browser.visited, 1)
      assert.strictEqual((await presented(jwt, first)).status, 401)
      assert.notStrictEqual((await presented(jwt, record.tokenAt("/mcp"))).status, 401)
    }
  },
  {
    title: "asks for consent with `offline_access`, without which it gives no refresh token",
    run: async (record) => {
      const { jwt } = peers()
      for (const offlineAccess of [true, false]) {
        const { browser, grant } = byPerson()
        const ours = await login(jwt, { grant, browser, revision: modern, record, offlineAccess })
        await ours.close()
        const page = last(browser.visited).searchParams
        assert.strictEqual(page.get("prompt"), offlineAccess ? "consent" : null)
        assert.strictEqual(page.get("scope"), offlineAccess ? `${read} offline_access` : read)
        assert.strictEqual(typeof member(last(record.to("/token")), "refresh_token") === "string", offlineAccess)
      }
    }
  },
  {
    title: "[field AUT-21] asks the person again where a refresh token is taken no more, as it was stolen and spent",
    run: async (record) => {
      const { jwt, peer } = peers()
      const { browser, grant } = byPerson()
      const ours = await login(jwt, { grant, browser, revision: modern, record })
      const refresh = String(member(last(record.to("/token")), "refresh_token"))
      const client_id = String(member(last(record.to("/reg")), "client_id"))
      const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: refresh, client_id })
      assert.strictEqual((await fetch(`${peer.issuer}/token`, { method: "POST", body })).status, 200)
      await peer.rotate("drop")
      assert.strictEqual(callerOf(await ours.call(whoami)).subject, "ada")
      await ours.close()
      assert.strictEqual(
        member(last(record.to("/token").filter(({ status }) => status === 400)), "error"),
        "invalid_grant"
      )
      assert.lengthOf(record.to("/reg"), 1)
      assert.lengthOf(browser.visited, 2)
    }
  },
  {
    title: "[ARS-09] [ACL-28] steps up to the scopes of a tool, with those it had",
    run: async (record) => {
      const { jwt } = peers()
      const { browser, grant } = byPerson()
      const ours = await login(jwt, { grant, browser, revision: modern, record })
      assert.includeMembers([...callerOf(await ours.call(writing)).scopes], [read, write])
      await ours.close()
      assert.lengthOf(browser.visited, 2)
      assert.isEmpty(record.grants("refresh_token"))
    }
  },
  {
    title: "[ACL-19] hears at once that the person said no",
    run: async (record) => {
      const { jwt } = peers()
      const failure: unknown = await login(jwt, { ...byPerson(), revision: modern, record, refuses: true }).catch(
        (error: unknown) => error
      )
      assert.strictEqual(reasonOf(failure), "LoginDenied")
      assert.isEmpty(record.to("/token"))
    }
  },
  {
    title: "logs in on another device (RFC 8628)",
    run: async (record) => {
      const { jwt, peer: { issuer } } = peers()
      const browser = new Browser()
      const shown: Array<string> = []
      const grant = DeviceAuthorization.grant({
        client: { issuer, clientId: "terminal" },
        show: ({ userCode, verificationUri, verificationUriComplete }) =>
          Effect.promise(() => {
            shown.push(userCode, verificationUri)
            return browser.visit(new URL(verificationUriComplete ?? verificationUri))
          })
      })
      const ours = await login(jwt, { grant, revision: modern, record })
      assert.deepInclude(callerOf(await ours.call(whoami)), { client: "terminal", subject: "ada" })
      await ours.close()
      assert.deepStrictEqual(shown, [
        String(member(last(record.to("/device/auth")), "user_code")),
        `${issuer}/device`
      ])
      withToken(record, jwt)
    }
  },
  {
    title: "[OCC-01] [field AUT-18] logs in as itself, with a secret that has to be encoded and with a key",
    run: async (record) => {
      const { jwt, peer: { issuer }, signer } = peers()
      const clients = [
        { issuer, clientId: awkward.id, clientSecret: Redacted.make(awkward.secret) },
        { issuer, clientId: "signer", key: { key: Redacted.make(signer), algorithm: "ES256" } }
      ]
      for (const client of clients) {
        const ours = await login(jwt, { grant: ClientCredentials.grant({ client }), revision: modern, record })
        assert.strictEqual(callerOf(await ours.call(whoami)).client, client.clientId)
        await ours.close()
      }
      assert.isTrue(last(record.grants("client_credentials")).has("client_assertion"))
    }
  }
])

logins(suite, modern, [
  {
    title: "[ARS-06] takes tokens that it is asked about, until they are revoked by a logout",
    run: async (record) => {
      const { opaque } = peers()
      const ours = await login(opaque, { ...byPerson(), revision: modern, record })
      assert.strictEqual(callerOf(await ours.call(whoami)).subject, "ada")
      const token = record.tokenAt("/mcp")
      assert.lengthOf(token.split("."), 1)
      assert.notStrictEqual((await presented(opaque, token)).status, 401)
      await Effect.runPromise(ours.oauth.logout)
      await ours.close()
      assert.isNotEmpty(record.to("/token/revocation"))
      assert.strictEqual((await presented(opaque, token)).status, 401)
    }
  },
  {
    title: "[ARS-07] [ARS-08] refuses a good token of the same issuer for another server",
    run: async (record) => {
      const { jwt, opaque, other } = peers()
      for (const [from, to] of [[jwt, other], [opaque, jwt]] as const) {
        const ours = await login(from, { ...byPerson(), revision: modern, record })
        await ours.close()
        const token = record.tokenAt("/mcp")
        assert.notStrictEqual((await presented(from, token)).status, 401)
        const refused = await presented(to, token)
        assert.strictEqual(refused.status, 401)
        assert.include(refused.headers.get("www-authenticate") ?? "", "error=\"invalid_token\"")
      }
    }
  },
  {
    title: "[ACL-08] [ACL-09] is known by the document that describes it, without a registration",
    run: async (record) => {
      const { bound } = peers()
      const dpop = await Effect.runPromise(Dpop.make())
      const grant = AuthorizationCode.grant({ metadataDocument: document.client_id })
      const browser = new Browser()
      const ours = await login(bound, { grant, browser, dpop, revision: modern, record })
      assert.strictEqual(callerOf(await ours.call(whoami)).client, document.client_id)
      await ours.close()
      assert.isEmpty(record.to("/reg"))
      assert.strictEqual(last(record.grants("authorization_code")).get("client_id"), document.client_id)
    }
  },
  {
    title: "binds tokens to a key that every request proves, with the nonces of both servers (RFC 9449)",
    run: async (record) => {
      const { bound } = peers()
      const dpop = await Effect.runPromise(Dpop.make())
      const { browser, grant } = byPerson()
      const ours = await login(bound, { grant, browser, dpop, revision: modern, record })
      assert.strictEqual(callerOf(await ours.call(whoami)).subject, "ada")
      await ours.close()
      byCode(record, browser, bound)
      assert.strictEqual(last(browser.visited).searchParams.get("dpop_jkt"), dpop.thumbprint)
      assert.deepStrictEqual(record.to("/token").map(({ status }) => status), [400, 200])
      const proofs = record.to("/mcp").flatMap(({ headers }) => headers.get("dpop") ?? [])
      assert.isAtLeast(proofs.length, 3)
      assert.strictEqual(new Set(proofs).size, proofs.length)
      const token = record.tokenAt("/mcp")
      assert.strictEqual((await presented(bound, token)).status, 401)
      const stolen = { authorization: `DPoP ${token}`, dpop: last(proofs) }
      assert.strictEqual((await fetch(bound, { method: "POST", headers: stolen })).status, 401)
    }
  }
])
