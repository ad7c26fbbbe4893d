/** Logins with version 1 of the TypeScript SDK on either side. */
import { assert } from "@effect/vitest"
import { AuthorizationCode, ClientCredentials } from "@mcpfx/auth"
import { ClientCredentialsProvider } from "@modelcontextprotocol/sdk/client/auth-extensions.js"
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js"
import { Effect, Redacted } from "effect"
import { Browser } from "../../src/interop/auth/browser.ts"
import { startGuarded, startTestAuthority, writing } from "../../src/interop/auth/guarded.ts"
import { login } from "../../src/interop/auth/login.ts"
import { awkward, callback, machine, startOidcPeer } from "../../src/interop/auth/oidcPeer.ts"
import { makeAuthority } from "../../src/interop/auth/sdk1Authority.ts"
import { startSdk1Guarded, startSdk1Whole, whoami } from "../../src/interop/auth/sdk1Guarded.ts"
import * as Sdk1 from "../../src/interop/auth/sdk1Login.ts"
import { faultsAreKnown } from "./support/cell.ts"
import { byCode, callerOf, last, logins, member, running, streaming, withToken } from "./support/logins.ts"

const revision = "2025-11-25"
const client = "login-sdk1-client"
const server = "login-sdk1-server"
const read = "notes:read"

const authority = makeAuthority([read])
const whole = running(() => startSdk1Whole(authority, read))
const foreign = running(async () => {
  const peer = await startOidcPeer()
  const guarded = await startSdk1Guarded(peer.issuer, read)
  peer.serve(`${guarded.origin}/mcp`, "jwt")
  const ours = await startGuarded(peer.issuer)
  peer.serve(`${ours.origin}/mcp`, "jwt")
  const close = () => Promise.all([guarded.close(), ours.close(), peer.close()]).then(() => undefined)
  return { peer, theirs: `${guarded.origin}/mcp`, ours: `${ours.origin}/mcp`, close }
})
const own = running(async () => {
  // Clients of this SDK do not say what kind of application they are, which revisions before 2026-07-28 do not ask for.
  const { close, server } = await startTestAuthority({
    looseRedirects: true,
    clients: [{ clientId: machine.id, clientSecret: machine.secret }]
  })
  const guarded = await startGuarded(server.issuer)
  return {
    server,
    url: `${guarded.origin}/mcp`,
    close: () => Promise.all([guarded.close(), close()]).then(() => undefined)
  }
})

/** Nobody gets a refresh token, and no scope stands for another: each step up is a login for what its challenge names. */
const strict = running(async () => {
  const { close, server } = await startTestAuthority({
    refresh: "never",
    // One that registers itself is held to the scopes it named then.
    clients: [{ clientId: "desktop", redirectUris: [callback] }]
  })
  const guarded = await startGuarded(server.issuer, { writersRead: false })
  return {
    url: `${guarded.origin}/mcp`,
    close: () => Promise.all([guarded.close(), close()]).then(() => undefined)
  }
})

logins(server, revision, [
  {
    title: "[ACL-01] [ACL-02] [ACL-14] [ACL-16] logs in by code at a server that is its own authorization server",
    run: async (record) => {
      const browser = new Browser()
      const url = `${whole().origin}/mcp`
      const ours = await login(url, { grant: AuthorizationCode.grant(), revision, record, browser })
      const { client, scopes } = callerOf(await ours.call(whoami))
      await ours.close()
      byCode(record, browser, url)
      assert.deepStrictEqual(scopes, [read])
      assert.strictEqual(client, member(last(record.to("/register")), "client_id"))
      assert.include(last(record.to("/register")).body, "\"application_type\":\"native\"")
    }
  },
  {
    title: "[ACL-29] goes on with a refresh, once, where the token has ended, and keeps the new refresh token",
    run: async (record) => {
      const browser = new Browser()
      const ours = await login(`${whole().origin}/mcp`, {
        grant: AuthorizationCode.grant(),
        revision,
        record,
        browser
      })
      for (const _ of [1, 2]) {
        authority.expire()
        assert.deepStrictEqual(callerOf(await ours.call(whoami)).scopes, [read])
      }
      await ours.close()
      const [first, second, ...more] = record.grants("refresh_token").map((form) => form.get("refresh_token"))
      assert.isDefined(second)
      assert.notStrictEqual(first, second)
      assert.isEmpty(more)
      assert.lengthOf(browser.visited, 1)
    }
  },
  {
    title: "[ACL-25] leaves nothing behind when it logs out",
    run: async (record) => {
      const before = authority.logins()
      const browser = new Browser()
      const ours = await login(`${whole().origin}/mcp`, {
        grant: AuthorizationCode.grant(),
        revision,
        record,
        browser
      })
      assert.strictEqual(authority.logins(), before + 1)
      await Effect.runPromise(ours.oauth.logout)
      assert.strictEqual(authority.logins(), before)
      assert.strictEqual((await Effect.runPromise(ours.oauth.status))._tag, "Anonymous")
      await ours.close()
    }
  },
  {
    title: "[OCC-01] logs in as itself where tokens come from a foreign authorization server",
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
      const { url } = own()
      const browser = new Browser()
      const provider = Sdk1.interactive(browser)
      const theirs = await Sdk1.login(url, provider, record)
      const caller = callerOf(await theirs.call(whoami))
      await theirs.close()
      assert.deepStrictEqual(caller.scopes, [read])
      assert.strictEqual(caller.client, provider.kept.info?.client_id)
      assert.strictEqual(caller.subject, "user")
      assert.strictEqual(theirs.revision(), revision)
      byCode(record, browser, url)
      const document = new URL("/.well-known/oauth-protected-resource/mcp", url).href
      const challenges = record.exchanges.filter(({ status }) => status === 401).map(({ received }) =>
        received.get("www-authenticate")
      )
      assert.deepStrictEqual(challenges, [`Bearer resource_metadata="${document}", scope="${read}"`])
    }
  },
  {
    title:
      "[ARS-06] is refused with a token of a key that is no more, refreshes, and is let in with one of the next key",
    run: async (record) => {
      const { server, url } = own()
      const provider = Sdk1.interactive(new Browser())
      const theirs = await Sdk1.login(url, provider, record)
      await streaming(record)
      await Effect.runPromise(server.rotateKeys({ keep: false }))
      assert.deepStrictEqual(callerOf(await theirs.call(whoami)).scopes, [read])
      await theirs.close()
      assert.lengthOf(record.grants("refresh_token"), 1)
    }
  },
  {
    title: "[ARS-09] [ARS-10] is asked by our server for the scopes of a tool, steps up, and may use it",
    run: async (record) => {
      const { url } = own()
      const browser = new Browser()
      const theirs = await Sdk1.login(url, Sdk1.interactive(browser), record)
      const failure: unknown = await theirs.call(writing).catch((error: unknown) => error)
      assert.instanceOf(failure, UnauthorizedError)
      const challenge = record.exchanges.findLast(({ status }) => status === 403)?.received.get("www-authenticate")
      assert.match(challenge ?? "", /^Bearer error="insufficient_scope"/)
      assert.match(challenge ?? "", /scope="notes:read notes:write"/)
      await theirs.resume()
      assert.sameMembers([...callerOf(await theirs.call(writing)).scopes], [read, "notes:write"])
      await theirs.close()
      assert.lengthOf(browser.visited, 2)
    }
  },
  {
    title: "[ARS-09] [ARS-10] is asked once for all that a tool needs, where no scope stands for another",
    run: async (record) => {
      const { url } = strict()
      const browser = new Browser()
      const provider = Sdk1.interactive(browser)
      provider.kept.info = { client_id: "desktop" }
      const theirs = await Sdk1.login(url, provider, record)
      const failure: unknown = await theirs.call(writing).catch((error: unknown) => error)
      assert.instanceOf(failure, UnauthorizedError)
      await theirs.resume()
      assert.sameMembers([...callerOf(await theirs.call(writing)).scopes], [read, "notes:write"])
      await theirs.close()
      assert.deepStrictEqual(
        browser.visited.map(({ searchParams }) => searchParams.get("scope")),
        [read, `${read} notes:write`]
      )
      assert.lengthOf(record.exchanges.filter(({ status }) => status === 403), 1)
    }
  },
  {
    title: "[OCC-01] logs in as itself at our server",
    run: async (record) => {
      const { server, url } = own()
      const provider = new ClientCredentialsProvider({
        clientId: machine.id,
        clientSecret: machine.secret,
        expectedIssuer: server.issuer,
        scope: read
      })
      const theirs = await Sdk1.login(url, provider, record)
      assert.deepInclude(callerOf(await theirs.call(whoami)), { client: machine.id, scopes: [read] })
      await theirs.close()
      assert.strictEqual(last(record.grants("client_credentials")).get("resource"), url)
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
      const theirs = await Sdk1.login(ours, provider, record)
      assert.deepInclude(callerOf(await theirs.call(whoami)), { client: awkward.id, scopes: [read] })
      await theirs.close()
    }
  }
])

faultsAreKnown(client, server)
