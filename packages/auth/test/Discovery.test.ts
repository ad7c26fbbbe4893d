import { assert, describe, it } from "@effect/vitest"
import { AuthError, Discovery, OutboundGuard } from "@mcpfx/auth"
import { Effect, Result } from "effect"
import * as fc from "fast-check"
import * as Discover from "../src/internal/discover.ts"
import * as Outbound from "../src/internal/outbound.ts"
import { issuer, json, metadata, resourceAddress, server, World } from "./support/world.ts"

const asAddress = `${issuer}/.well-known/oauth-authorization-server`
const rootAddress = "https://mcp.example/.well-known/oauth-protected-resource"

const discover = (
  world: World,
  hint: Discover.Hint = {},
  options: Partial<Discover.Options> & { readonly server?: string } = {}
) => {
  const url = new URL(options.server ?? server)
  const policy = { loopback: url.hostname === "127.0.0.1" }
  const outbound = Outbound.make({ client: world.client, guard: OutboundGuard.make(), policy })
  return Discover.discover({ outbound, policy, url, ...options }, hint)
}

const failure = (world: World, hint?: Discover.Hint, options?: Parameters<typeof discover>[2]) =>
  Effect.map(Effect.flip(discover(world, hint, options)), ({ reason }) => reason)

const good = () =>
  new World().on(resourceAddress, { resource: server, authorization_servers: [issuer] }).on(asAddress, metadata)

describe("Discovery", () => {
  it("[ACL-02] metadata are looked for at the address of the challenge, then with the path, then at the root", () => {
    assert.deepStrictEqual(
      Discovery.resourceAddresses(new URL("https://h.example/a/mcp?x=1"), "https://h.example/custom.json"),
      [
        "https://h.example/custom.json",
        "https://h.example/.well-known/oauth-protected-resource/a/mcp",
        "https://h.example/.well-known/oauth-protected-resource"
      ]
    )
    assert.deepStrictEqual(Discovery.resourceAddresses(new URL("https://h.example"), "no url"), [
      "https://h.example/.well-known/oauth-protected-resource"
    ])
  })

  it("[ACL-04] [field AUT-03] an issuer with a path has three addresses, one without two", () => {
    assert.deepStrictEqual(Discovery.serverAddresses("https://idp.example/t1/"), [
      "https://idp.example/.well-known/oauth-authorization-server/t1",
      "https://idp.example/.well-known/openid-configuration/t1",
      "https://idp.example/t1/.well-known/openid-configuration"
    ])
    assert.deepStrictEqual(Discovery.serverAddresses("https://idp.example"), [
      "https://idp.example/.well-known/oauth-authorization-server",
      "https://idp.example/.well-known/openid-configuration"
    ])
    assert.deepStrictEqual(Discovery.serverAddresses("https://idp.example?tenant=1"), [])
    assert.deepStrictEqual(Discovery.serverAddresses("idp.example"), [])
  })

  it("[field AUT-02] [ACL-17] a resource is the server's at the same origin and at the border of a segment", () => {
    const asked = new URL("https://h.example/team/mcp?x=1")
    const accepted = [
      "https://h.example/team/mcp",
      "https://h.example/",
      "https://h.example",
      "https://h.example/team",
      "HTTPS://H.EXAMPLE/team"
    ]
    const refused = [
      "https://h.example/te",
      "https://other.example/team/mcp",
      "http://h.example/team/mcp",
      "https://h.example:8443/team/mcp",
      "https://h.example/team/mcp#",
      "https://h.example/team/mcp/more",
      "h.example"
    ]
    for (const resource of accepted) assert.isTrue(Discovery.covers(resource, asked), resource)
    for (const resource of refused) assert.isFalse(Discovery.covers(resource, asked), resource)
  })

  it("[field AUT-02] no resource covers a server whose path only begins with the same letters", () => {
    const segment = fc.stringMatching(/^[a-z]{1,6}$/)
    fc.assert(fc.property(fc.array(segment), segment, segment, (path, last, more) => {
      const base = ["https://h.example", ...path, last].join("/")
      assert.isTrue(Discovery.covers(base, new URL(`${base}/${more}`)))
      assert.isFalse(Discovery.covers(base, new URL(`${base}${more}`)))
    }))
  })

  it("[ACL-16] [ACL-17] a server without metadata is named without what means nothing", () => {
    assert.strictEqual(Discovery.canonicalResource(new URL("HTTPS://H.example/?x#y")), "https://h.example")
    assert.strictEqual(Discovery.canonicalResource(new URL("https://h.example/mcp")), "https://h.example/mcp")
  })

  it("[field AUT-18] null, empty texts and members of no list are absent; nothing comes from a prototype", () => {
    const text = `{"issuer":"${issuer}","token_endpoint":"","scopes_supported":null,"jwks_uri":null,
      "response_types_supported":["code",null,7,""],"__proto__":{"revocation_endpoint":"https://evil.example"},"unknown":1}`
    assert.deepStrictEqual(Discovery.decodeServer(text), Result.succeed({ issuer, response_types_supported: ["code"] }))
    for (const bad of ["{", "[]", "\"x\"", "null", "{}", `{"issuer":7}`, `{"issuer":"${issuer}","jwks_uri":[]}`]) {
      assert.isTrue(Result.isFailure(Discovery.decodeServer(bad)), bad)
    }
    assert.isTrue(Result.isFailure(Discovery.decodeResource(`{"authorization_servers":["${issuer}"]}`)))
  })

  it.effect("[field AUT-04] what one address answers never ends the search", () =>
    Effect.gen(function*() {
      const answers: ReadonlyArray<() => Response | undefined> = [
        () => new Response("<html></html>", { status: 200, headers: { "content-type": "text/html" } }),
        () => new Response("", { status: 401, headers: { "www-authenticate": "Bearer" } }),
        () => new Response("", { status: 403 }),
        () => new Response("", { status: 500 }),
        () => new Response("bad gateway", { status: 502 }),
        () => new Response("{"),
        () => new Response("x".repeat(600_000)),
        () => new Response(null, { status: 302, headers: { location: "https://elsewhere.example/" } }),
        () => undefined
      ]
      for (const answer of answers) {
        const world = new World()
          .on(resourceAddress, answer)
          .on(rootAddress, { resource: server, authorization_servers: [issuer] })
          .on(asAddress, answer)
          .on(`${issuer}/.well-known/openid-configuration`, metadata)
        const found = yield* discover(world, { resourceMetadata: "https://mcp.example/gone" })
        assert.strictEqual(found.server.issuer, issuer)
        assert.strictEqual(found.metadataUrl, rootAddress)
        assert.strictEqual(found.attempts.length, 3)
      }
    }))

  it.effect("[ACL-04] [field AUT-03] the first good answer counts, at whichever of the addresses it is", () =>
    Effect.gen(function*() {
      const tenant = `${issuer}/t1`
      for (const named of [tenant, issuer]) {
        const addresses = Discovery.serverAddresses(named)
        for (const [index, address] of addresses.entries()) {
          const world = new World()
            .on(resourceAddress, { resource: server, authorization_servers: [named] })
            .on(address, { ...metadata, issuer: named })
          assert.strictEqual((yield* discover(world)).server.issuer, named)
          assert.deepStrictEqual(world.others, [resourceAddress, ...addresses.slice(0, index + 1)])
        }
      }
    }))

  it.effect("[field AUT-04] the final error names every address and what it answered", () =>
    Effect.gen(function*() {
      const world = new World()
        .on(resourceAddress, () => new Response("<html>", { headers: { "content-type": "text/html" } }))
        .on(rootAddress, 502)
        .on("https://mcp.example/.well-known/oauth-authorization-server", () => undefined)
      const reason = yield* failure(world, { resourceMetadata: "https://mcp.example/meta?secret=1" })
      assert.strictEqual(reason._tag, "DiscoveryFailed")
      if (reason._tag !== "DiscoveryFailed") return
      assert.deepStrictEqual(reason.attempts, [
        { url: "https://mcp.example/meta", outcome: "status 404" },
        { url: resourceAddress, outcome: "no JSON object" },
        { url: rootAddress, outcome: "status 502" },
        { url: "https://mcp.example/.well-known/oauth-authorization-server", outcome: "it does not answer" },
        { url: "https://mcp.example/.well-known/openid-configuration", outcome: "status 404" }
      ])
    }))

  it.effect("[field AUT-21] [field AUT-04] a search that found nobody at home may go well later, and names every address", () =>
    Effect.gen(function*() {
      const openId = `${issuer}/.well-known/openid-configuration`
      const later: ReadonlyArray<readonly [Response | undefined, outcome: string, status?: number]> = [
        [undefined, "it does not answer"],
        [new Response("", { status: 408 }), "status 408", 408],
        [new Response("", { status: 429, headers: { "retry-after": "20" } }), "status 429", 429],
        [new Response("", { status: 500 }), "status 500", 500],
        [new Response("<html>", { status: 503, headers: { "retry-after": "20" } }), "status 503", 503]
      ]
      for (const [answer, outcome, status] of later) {
        for (const other of [503, 404]) {
          const reason = yield* failure(good().on(asAddress, () => answer?.clone()).on(openId, other))
          const attempts = [{ url: asAddress, outcome }, { url: openId, outcome: `status ${other}` }]
          const retryAfter = answer?.headers.get("retry-after")
          assert.deepStrictEqual({ ...reason }, {
            ...new AuthError.Unavailable({
              url: asAddress,
              ...(status === undefined ? {} : { status }),
              ...(typeof retryAfter === "string" ? { retryAfter } : {}),
              detail: "no metadata of the authorization server can be had now",
              attempts
            })
          })
          const error = new AuthError.AuthError({ reason })
          assert.isFalse(error.isFinal)
          for (const { outcome, url } of attempts) assert.include(error.message, `${url} (${outcome})`)
        }
      }
    }))

  it.effect("[field AUT-04] a search that read something else, or found nothing anywhere, is over until somebody acts", () =>
    Effect.gen(function*() {
      const openId = `${issuer}/.well-known/openid-configuration`
      const others = [
        () => new Response("<html>", { headers: { "content-type": "text/html" } }),
        () => new Response("", { status: 401 }),
        () => new Response("", { status: 403 }),
        () => new Response("{")
      ]
      for (const other of others) {
        const reason = yield* failure(good().on(asAddress, 503).on(openId, other))
        assert.strictEqual(reason._tag, "DiscoveryFailed")
        assert.isTrue(new AuthError.AuthError({ reason }).isFinal)
      }
      assert.strictEqual((yield* failure(good().on(asAddress, 404)))._tag, "DiscoveryFailed")
    }))

  it.effect("[field AUT-02] metadata of another server end the search before anybody is asked for a token", () =>
    Effect.gen(function*() {
      const world = good().on(resourceAddress, {
        resource: "https://other.example/mcp",
        authorization_servers: [issuer]
      })
      assert.deepInclude(yield* failure(world), {
        _tag: "WrongAudience",
        server,
        resource: "https://other.example/mcp"
      })
      assert.deepStrictEqual(world.others, [resourceAddress])
    }))

  it.effect("[ACL-05] [field AUT-05] metadata that name another issuer are not used, to the letter", () =>
    Effect.gen(function*() {
      for (const found of [`${issuer}/`, `${issuer}/common`, "https://evil.example"]) {
        const world = good().on(asAddress, { ...metadata, issuer: found })
        assert.deepInclude(yield* failure(world), { _tag: "IssuerMismatch", expected: issuer, found, url: asAddress })
      }
      const other = good()
        .on(asAddress, { ...metadata, issuer: "https://evil.example" })
        .on(`${issuer}/.well-known/openid-configuration`, metadata)
      assert.strictEqual((yield* discover(other)).server.issuer, issuer)
    }))

  it.effect("[field AUT-05] a known provider may be trusted with a name of its own", () =>
    Effect.gen(function*() {
      const world = good().on(asAddress, { ...metadata, issuer: `${issuer}/` })
      const trustIssuer = (named: string, found: string) => found === `${named}/`
      const found = yield* discover(world, {}, { trustIssuer })
      assert.strictEqual(found.server.issuer, `${issuer}/`)
      assert.strictEqual(found.named, issuer)
      const evil = good().on(asAddress, { ...metadata, issuer: "https://evil.example" })
      assert.strictEqual((yield* failure(evil, {}, { trustIssuer }))._tag, "IssuerMismatch")
    }))

  it.effect("[ACL-06] a server without metadata is its own authorization server, and hears what is spoken", () =>
    Effect.gen(function*() {
      const own = { issuer: "https://mcp.example", token_endpoint: "https://mcp.example/oauth/token" }
      const world = new World().on("https://mcp.example/.well-known/oauth-authorization-server", own)
      const found = yield* discover(world, { protocolVersion: "2025-03-26" })
      assert.deepInclude(found.server, { issuer: "https://mcp.example", found: "origin", metadata: own })
      assert.strictEqual(found.resource, server)
      assert.deepStrictEqual(world.seen.map(({ headers }) => headers["mcp-protocol-version"]), [
        "2025-03-26",
        "2025-03-26",
        "2025-03-26"
      ])
    }))

  it.effect("[ACL-06] one with no metadata at all has the default endpoints at its origin", () =>
    Effect.gen(function*() {
      const found = yield* discover(new World())
      assert.deepStrictEqual(found.server, {
        issuer: "https://mcp.example",
        found: "defaults",
        metadata: {
          issuer: "https://mcp.example",
          authorization_endpoint: "https://mcp.example/authorize",
          token_endpoint: "https://mcp.example/token",
          registration_endpoint: "https://mcp.example/register"
        }
      })
    }))

  it.effect("[ACL-06] endpoints are not guessed where something may only be down, or the challenge spoke of metadata", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* failure(new World().on(rootAddress, 503)))._tag, "Unavailable")
      assert.strictEqual((yield* failure(new World().on(rootAddress, () => undefined)))._tag, "Unavailable")
      const named = { resourceMetadata: resourceAddress }
      assert.strictEqual((yield* failure(new World(), named))._tag, "DiscoveryFailed")
    }))

  it.effect("[field AUT-22] no authorization server hears of the protocol", () =>
    Effect.gen(function*() {
      const world = good()
      yield* discover(world, { protocolVersion: "2025-11-25" })
      const asked = world.seen.filter(({ url }) => url.origin === issuer)
      assert.isAbove(asked.length, 0)
      for (const { headers } of asked) {
        assert.deepStrictEqual(Object.keys(headers).filter((name) => name.startsWith("mcp-")), [])
      }
    }))

  it.effect("[SEC-05] addresses of private networks are not fetched, whoever names them", () =>
    Effect.gen(function*() {
      for (
        const evil of ["https://169.254.169.254/meta", "https://10.0.0.1/", "https://localhost/", "http://as.example/"]
      ) {
        const world = new World().on(resourceAddress, { resource: server, authorization_servers: [evil] })
        assert.strictEqual((yield* failure(world, { resourceMetadata: evil }))._tag, "InsecureServer", evil)
        assert.deepStrictEqual(world.others, [resourceAddress], evil)
      }
    }))

  it.effect("[SEC-05] endpoints that are not safe are not used; those that can be done without are left out", () =>
    Effect.gen(function*() {
      for (const name of ["authorization_endpoint", "token_endpoint", "registration_endpoint"]) {
        for (const bad of ["http://as.example/x", "javascript:alert(1)", "nothing", "https://127.0.0.1/x"]) {
          const reason = yield* failure(good().on(asAddress, { ...metadata, [name]: bad }))
          assert.strictEqual(reason._tag, "InsecureServer", `${name} ${bad}`)
        }
      }
      const world = good().on(asAddress, { ...metadata, revocation_endpoint: "http://as.example/revoke" })
      assert.isUndefined((yield* discover(world)).server.metadata.revocation_endpoint)
    }))

  it.effect("[SEC-05] a server on loopback may have its login there too, over http", () =>
    Effect.gen(function*() {
      const local = "http://127.0.0.1:9000"
      const world = new World()
        .on(`${local}/.well-known/oauth-protected-resource/mcp`, {
          resource: `${local}/mcp`,
          authorization_servers: ["http://localhost:9001"]
        })
        .on("http://localhost:9001/.well-known/oauth-authorization-server", {
          issuer: "http://localhost:9001",
          token_endpoint: "http://localhost:9001/token"
        })
      const found = yield* discover(world, {}, { server: `${local}/mcp` })
      assert.strictEqual(found.server.issuer, "http://localhost:9001")
    }))

  it.effect("[ACL-13] which of several authorization servers is the program's choice, the first by default", () =>
    Effect.gen(function*() {
      const second = "https://second.example"
      const world = good()
        .on(resourceAddress, { resource: server, authorization_servers: [issuer, second] })
        .on(`${second}/.well-known/oauth-authorization-server`, { ...metadata, issuer: second })
      assert.strictEqual((yield* discover(world)).server.issuer, issuer)
      const chosen = yield* discover(world, {}, { chooseServer: (issuers) => issuers.at(1) })
      assert.strictEqual(chosen.server.issuer, second)
      const none = yield* failure(world, {}, { chooseServer: () => "https://third.example" })
      const detail = `chooseServer chose "https://third.example" of the authorization servers of ${server}: ` +
        `"${issuer}", "${second}"`
      assert.deepStrictEqual({ ...none }, { ...new AuthError.Misconfigured({ detail }) })
    }))

  it.effect("a server that does not answer in time is one of the attempts", () =>
    Effect.gen(function*() {
      const world = good().on(asAddress, () => json({}, 404))
      const reason = yield* failure(world)
      assert.strictEqual(reason._tag, "DiscoveryFailed")
      assert.include(new AuthError.AuthError({ reason }).message, `${asAddress} (status 404)`)
    }))
})
