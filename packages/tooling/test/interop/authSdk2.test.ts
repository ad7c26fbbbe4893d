/** Logins with version 2 of the TypeScript SDK on either side, in both eras. */
import { assert } from "@effect/vitest"
import { AuthorizationCode, ClientCredentials } from "@mcpfx/auth"
import {
  ClientCredentialsProvider,
  DpopSession,
  PrivateKeyJwtProvider,
  UnauthorizedError
} from "@modelcontextprotocol/client"
import { Effect, Redacted } from "effect"
import { exportJWK, exportPKCS8, generateKeyPair } from "jose"
import { Browser } from "../../src/interop/auth/browser.ts"
import { startGuarded, startTestAuthority, writing } from "../../src/interop/auth/guarded.ts"
import { login } from "../../src/interop/auth/login.ts"
import { awkward, callback, machine, startOidcPeer } from "../../src/interop/auth/oidcPeer.ts"
import { whoami } from "../../src/interop/auth/sdk1Guarded.ts"
import { startSdk2Guarded } from "../../src/interop/auth/sdk2Guarded.ts"
import * as Sdk2 from "../../src/interop/auth/sdk2Login.ts"
import { faultsAreKnown } from "./support/cell.ts"
import { byCode, callerOf, last, logins, member, running, streaming, withToken } from "./support/logins.ts"

const client = "login-sdk2-client"
const server = "login-sdk2-server"
const read = "notes:read"
const both = ["2025-11-25", "2026-07-28"] as const

const foreign = running(async () => {
  const peer = await startOidcPeer()
  const guarded = await startSdk2Guarded(peer.issuer, read)
  peer.serve(`${guarded.origin}/mcp`, "jwt")
  const ours = await startGuarded(peer.issuer)
  peer.serve(`${ours.origin}/mcp`, "jwt")
  const close = () => Promise.all([guarded.close(), ours.close(), peer.close()]).then(() => undefined)
  return { peer, theirs: `${guarded.origin}/mcp`, ours: `${ours.origin}/mcp`, close }
})

const own = running(async () => {
  const keys = await generateKeyPair("ES256", { extractable: true })
  const plain = await startTestAuthority({
    clients: [
      { clientId: machine.id, clientSecret: machine.secret },
      // One that registers itself is held to the scopes it named then.
      { clientId: "desktop", redirectUris: [callback] },
      { clientId: "signer", jwks: { keys: [{ ...await exportJWK(keys.publicKey), alg: "ES256" }] } }
    ]
  })
  const careful = await startTestAuthority({ dpop: "nonce" })
  const guarded = await startGuarded(plain.server.issuer)
  const bound = await startGuarded(careful.server.issuer, { dpop: { mode: "require", nonce: {} } })
  return {
    bound: { url: `${bound.origin}/mcp` },
    plain: { server: plain.server, url: `${guarded.origin}/mcp`, key: await exportPKCS8(keys.privateKey) },
    close: () => Promise.all([guarded, bound, plain, careful].map(({ close }) => close())).then(() => undefined)
  }
})

for (const revision of both) {
  logins(server, revision, [
    {
      title: "[ACL-01] [ACL-08] [ACL-14] [ACL-16] logs in by code",
      run: async (record) => {
        const { theirs } = foreign()
        const browser = new Browser()
        const ours = await login(theirs, { grant: AuthorizationCode.grant(), revision, record, browser })
        const { client, scopes } = callerOf(await ours.call(whoami))
        await ours.close()
        byCode(record, browser, theirs)
        assert.deepStrictEqual(scopes, [read])
        assert.strictEqual(client, member(last(record.to("/reg")), "client_id"))
        assert.strictEqual(ours.revision(), revision)
      }
    },
    {
      title: "[OCC-01] logs in as itself",
      run: async (record) => {
        const { peer: { issuer }, theirs } = foreign()
        const { id: clientId, secret } = awkward
        const grant = ClientCredentials.grant({ client: { issuer, clientId, clientSecret: Redacted.make(secret) } })
        const ours = await login(theirs, { grant, revision, record })
        assert.deepInclude(callerOf(await ours.call(whoami)), { client: clientId, scopes: [read] })
        await ours.close()
        assert.strictEqual(last(record.grants("client_credentials")).get("resource"), theirs)
        withToken(record, theirs)
      }
    }
  ])

  logins(client, revision, [
    {
      title: "[ARS-02] [ARS-03] [ARS-05] is told by our server how to log in by code, and does",
      run: async (record) => {
        const { plain: { url } } = own()
        const browser = new Browser()
        const provider = Sdk2.interactive(browser)
        const theirs = await Sdk2.login(url, provider, revision, record)
        const caller = callerOf(await theirs.call(whoami))
        assert.strictEqual(theirs.revision(), revision)
        await theirs.close()
        assert.deepStrictEqual(caller.scopes, [read])
        assert.strictEqual(caller.client, provider.kept.info?.client_id)
        byCode(record, browser, url)
      }
    },
    {
      title:
        "[ARS-06] is refused with a token of a key that is no more, refreshes, and is let in with one of the next key",
      run: async (record) => {
        const { plain: { server, url } } = own()
        const theirs = await Sdk2.login(url, Sdk2.interactive(new Browser()), revision, record)
        if (revision === "2025-11-25") await streaming(record)
        await Effect.runPromise(server.rotateKeys({ keep: false }))
        assert.deepStrictEqual(callerOf(await theirs.call(whoami)).scopes, [read])
        await theirs.close()
        assert.lengthOf(record.grants("refresh_token"), 1)
      }
    },
    {
      title: "[ARS-09] [ARS-10] is asked by our server for the scopes of a tool, steps up, and may use it",
      run: async (record) => {
        const { plain: { server, url } } = own()
        const browser = new Browser()
        const provider = Sdk2.interactive(browser)
        provider.kept.info = { client_id: "desktop", issuer: server.issuer }
        const theirs = await Sdk2.login(url, provider, revision, record)
        const failure: unknown = await theirs.call(writing).catch((error: unknown) => error)
        assert.instanceOf(failure, UnauthorizedError)
        await theirs.resume()
        assert.sameMembers([...callerOf(await theirs.call(writing)).scopes], [read, "notes:write"])
        await theirs.close()
        assert.lengthOf(browser.visited, 2)
      }
    },
    {
      title: "[ARS-06] logs in by code where our server takes tokens of an authorization server of yet another make",
      run: async (record) => {
        const { ours } = foreign()
        const browser = new Browser()
        const theirs = await Sdk2.login(ours, Sdk2.interactive(browser), revision, record)
        assert.deepInclude(callerOf(await theirs.call(whoami)), { scopes: [read], subject: "ada" })
        await theirs.close()
        byCode(record, browser, ours)
      }
    },
    {
      title: "[OCC-01] logs in as itself at our server",
      run: async (record) => {
        const { plain: { server, url } } = own()
        const provider = new ClientCredentialsProvider({
          clientId: machine.id,
          clientSecret: machine.secret,
          expectedIssuer: server.issuer,
          scope: read
        })
        const theirs = await Sdk2.login(url, provider, revision, record)
        assert.deepInclude(callerOf(await theirs.call(whoami)), { client: machine.id, scopes: [read] })
        await theirs.close()
        assert.strictEqual(last(record.grants("client_credentials")).get("resource"), url)
      }
    },
    {
      title: "[OCC-01] logs in as itself with a key at our server",
      run: async (record) => {
        const { plain: { key, server, url } } = own()
        const provider = new PrivateKeyJwtProvider({
          clientId: "signer",
          privateKey: key,
          algorithm: "ES256",
          expectedIssuer: server.issuer,
          scope: read
        })
        const theirs = await Sdk2.login(url, provider, revision, record)
        assert.deepInclude(callerOf(await theirs.call(whoami)), { client: "signer", scopes: [read] })
        await theirs.close()
      }
    },
    {
      title: "[OCC-01] logs in as itself with a secret that has to be encoded",
      run: async (record) => {
        const { ours, peer } = foreign()
        const provider = new ClientCredentialsProvider({
          clientId: awkward.id,
          clientSecret: awkward.secret,
          expectedIssuer: peer.issuer,
          scope: read
        })
        const theirs = await Sdk2.login(ours, provider, revision, record)
        assert.deepInclude(callerOf(await theirs.call(whoami)), { client: awkward.id, scopes: [read] })
        await theirs.close()
      }
    },
    {
      title: "logs in by code with tokens bound to its key, of which our servers want a proof with a nonce each time",
      run: async (record) => {
        const { bound: { url } } = own()
        const browser = new Browser()
        const provider = Sdk2.interactive(browser, await DpopSession.create())
        const theirs = await Sdk2.login(url, provider, revision, record)
        assert.deepStrictEqual(callerOf(await theirs.call(whoami)).scopes, [read])
        await theirs.close()
        byCode(record, browser, url)
        assert.match(last(record.to("/mcp")).headers.get("authorization") ?? "", /^DPoP /)
        const nonces = record.exchanges.filter(({ received }) =>
          received.get("www-authenticate")?.includes("use_dpop_nonce") === true
        )
        assert.lengthOf(nonces, 1)
        const stolen = { authorization: `Bearer ${record.tokenAt("/mcp")}` }
        assert.strictEqual((await fetch(url, { method: "POST", headers: stolen })).status, 401)
      }
    }
  ])
}

faultsAreKnown(client, server)
