import { assert, describe, it } from "@effect/vitest"
import * as Headers from "effect/http/Headers"
import * as fc from "fast-check"
import * as Guard from "../src/Guard.ts"
import * as media from "../src/internal/media.ts"

const local = Guard.make()
const host = (guard: Guard.Guard, value: string | undefined) => guard.check(value, undefined)?.reason ?? "passes"
const origin = (guard: Guard.Guard, value: string | undefined) => guard.check("localhost", value)?.reason ?? "passes"

describe("Host", () => {
  it("[field HTP-21] lets the names of the loopback interface pass, on any port and in any case", () => {
    for (const name of ["localhost", "127.0.0.1", "127.1.2.3", "[::1]", "LOCALHOST", "localhost."]) {
      assert.strictEqual(host(local, name), "passes", name)
      if (!name.endsWith(".")) assert.strictEqual(host(local, `${name}:3000`), "passes", name)
    }
  })

  it("[field HTP-21] refuses names that only look like loopback", () => {
    for (
      const name of [
        "rebind.example:3000",
        "localhost.evil.example",
        "evil-localhost",
        "127.0.0.1.evil.example",
        "[::2]"
      ]
    ) assert.strictEqual(host(local, name), "not allowed", name)
    for (const name of ["localhost:", "localhost:port", "user@localhost", "local host", "a,b", "::1", "localhost/x"]) {
      assert.strictEqual(host(local, name), "malformed", name)
    }
  })

  it("[field HTP-36] refuses a request without a host where hosts are checked", () => {
    assert.strictEqual(host(local, undefined), "missing")
    assert.strictEqual(host(Guard.make({ allowedHosts: "any" }), undefined), "passes")
  })

  it("[field HTP-21] an empty list allows nothing", () => {
    const none = Guard.make({ allowedHosts: [] })
    assert.strictEqual(host(none, "localhost"), "not allowed")
    assert.strictEqual(host(none, "0.0.0.0:80"), "not allowed")
  })

  it("compares listed names exactly, and their port where one is listed", () => {
    const listed = Guard.make({ allowedHosts: ["MCP.example.com", "api.example.com:8443", "[2001:db8::1]"] })
    assert.strictEqual(host(listed, "mcp.example.com"), "passes")
    assert.strictEqual(host(listed, "mcp.example.com:99"), "passes")
    assert.strictEqual(host(listed, "api.example.com:8443"), "passes")
    assert.strictEqual(host(listed, "api.example.com"), "not allowed")
    assert.strictEqual(host(listed, "[2001:DB8::1]:80"), "passes")
    assert.strictEqual(host(listed, "localhost"), "not allowed")
    assert.strictEqual(host(listed, "x.mcp.example.com"), "not allowed")
  })
})

describe("Origin", () => {
  it("[HTTP-02] a request without an origin does not come from a web page", () => {
    assert.strictEqual(origin(local, undefined), "passes")
  })

  it("[field HTP-21] pages of the loopback interface pass by default, all others do not", () => {
    for (const value of ["http://localhost:5173", "https://127.0.0.1", "http://[::1]:80", "HTTP://LOCALHOST:1"]) {
      assert.strictEqual(origin(local, value), "passes", value)
    }
    for (
      const value of ["https://evil.example", "http://localhost.evil.example", "null", "vscode-webview://localhost"]
    ) assert.strictEqual(origin(local, value), "not allowed", value)
    for (const value of ["", "localhost", "http://", "http://localhost/path", "http://a@localhost", "http://a b"]) {
      assert.strictEqual(origin(local, value), "malformed", value)
    }
  })

  it("pages of the listed hosts pass when no origins are listed", () => {
    const guard = Guard.make({ allowedHosts: ["mcp.example.com"] })
    const check = (value: string) => guard.check("mcp.example.com", value)?.reason ?? "passes"
    assert.strictEqual(check("https://mcp.example.com"), "passes")
    assert.strictEqual(check("http://localhost:6274"), "passes")
    assert.strictEqual(check("https://example.com"), "not allowed")
  })

  it("a list is taken at its word", () => {
    const guard = Guard.make({ allowedOrigins: ["https://App.example:443/", "vscode-webview://abc"] })
    assert.strictEqual(origin(guard, "https://app.example"), "passes")
    assert.strictEqual(origin(guard, "vscode-webview://abc"), "passes")
    assert.strictEqual(origin(guard, "https://app.example:8443"), "not allowed")
    assert.strictEqual(origin(guard, "http://localhost"), "not allowed")
    assert.strictEqual(origin(guard, "null"), "not allowed")
    assert.strictEqual(origin(Guard.make({ allowedOrigins: "any" }), "https://evil.example"), "passes")
  })

  it("says the same each time it is asked", () => {
    const guard = Guard.make({ allowedHosts: ["a.example"] })
    fc.assert(fc.property(fc.constantFrom("a.example", "b.example", "a.example:1", ""), (value) => {
      assert.deepStrictEqual(
        guard.check(value, undefined),
        Guard.make({ allowedHosts: ["a.example"] }).check(value, undefined)
      )
    }))
  })
})

describe("Accept", () => {
  const accept = (header: string | undefined) => {
    const { json, stream } = media.parseAccept(header)
    return json ? stream ? "both" : "json" : stream ? "stream" : "neither"
  }

  it("[field HTP-03] wildcards and qualities count as listed, a quality of 0 as refused", () => {
    assert.strictEqual(accept("*/*"), "both")
    assert.strictEqual(accept("application/*, text/*"), "both")
    assert.strictEqual(accept("application/json;q=0.9, text/event-stream;q=0.1"), "both")
    assert.strictEqual(accept("application/json"), "json")
    assert.strictEqual(accept("text/event-stream"), "stream")
    assert.strictEqual(accept(undefined), "both")
    assert.strictEqual(accept("application/json;q=0, text/event-stream"), "stream")
    assert.strictEqual(accept("image/png"), "neither")
    assert.strictEqual(accept("*/*, application/json;q=0"), "stream")
    assert.strictEqual(accept("text/*;q=0, */*"), "json")
    assert.strictEqual(accept("APPLICATION/JSON ; Q=0.5 , Text/Event-Stream"), "both")
    assert.strictEqual(accept("application/json;version=1;q=0"), "neither")
  })

  it("never throws, whatever the header", () => {
    fc.assert(fc.property(fc.string(), (header) => {
      media.parseAccept(header)
    }))
  })
})

describe("Content-Type", () => {
  it("[field HTP-01] parameters and case do not matter, everything else does", () => {
    for (const type of ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON;x=1"]) {
      assert.isTrue(media.isJson(type), type)
    }
    for (const type of [undefined, "", "text/plain", "application/jsonp", "text/plain; a=application/json"]) {
      assert.isFalse(media.isJson(type), type)
    }
    assert.isTrue(media.isEventStream("text/event-stream;charset=UTF-8"))
  })
})

describe("CORS", () => {
  const ask = (headers: Record<string, string>) =>
    Guard.preflightHeaders("http://localhost", Headers.fromInput(headers))

  it("[field HTP-22] a preflight allows every header of the protocol and the annotated ones that were asked for", () => {
    const allowed = ask({ "access-control-request-headers": "Mcp-Param-Region, mcp-param-x\u0000, x-other" })
    const list = allowed["access-control-allow-headers"]?.split(", ") ?? []
    for (
      const name of [
        "authorization",
        "content-type",
        "mcp-protocol-version",
        "mcp-session-id",
        "mcp-method",
        "mcp-name"
      ]
    ) assert.include(list, name)
    assert.include(list, "mcp-param-region")
    assert.notInclude(list, "x-other")
    assert.strictEqual(list.filter((name) => name.startsWith("mcp-param-")).length, 1)
    assert.strictEqual(allowed["access-control-allow-methods"], "GET, POST, DELETE, OPTIONS")
  })

  it("[field HTP-22] a page may read the session id and the challenge", () => {
    const exposed = Guard.corsHeaders("http://localhost")["access-control-expose-headers"]
    assert.include(exposed, "mcp-session-id")
    assert.include(exposed, "www-authenticate")
  })

  it("answers the question for private networks", () => {
    const allowed = ask({ "access-control-request-private-network": "true" })
    assert.strictEqual(allowed["access-control-allow-private-network"], "true")
    assert.notProperty(ask({}), "access-control-allow-private-network")
  })
})
