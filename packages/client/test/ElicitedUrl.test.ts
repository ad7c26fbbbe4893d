import { assert, describe, it } from "@effect/vitest"
import { ElicitedUrl } from "@mcpfx/client"
import { Result } from "effect"

const look = (url: string) => Result.getOrThrow(ElicitedUrl.inspect(url))

describe("[ELI-14] what is shown of an address", () => {
  it("is its host, in ASCII, whatever stands around it", () => {
    const table: ReadonlyArray<readonly [url: string, host: string, domain: string, ReadonlyArray<string>]> = [
      ["https://mcp.example.com/ui?x=https://bank.com", "mcp.example.com", "example.com", []],
      ["HTTPS://EXAMPLE.com:443/", "example.com", "example.com", []],
      ["http://example.com/", "example.com", "example.com", ["insecure"]],
      ["https://bank.com@evil.example/", "evil.example", "evil.example", ["userinfo"]],
      ["https://:secret@evil.example/", "evil.example", "evil.example", ["userinfo"]],
      ["https://аpple.com/", "xn--pple-43d.com", "xn--pple-43d.com", ["punycode"]],
      ["https://xn--pple-43d.com/", "xn--pple-43d.com", "xn--pple-43d.com", ["punycode"]],
      ["https://example.com:8443/", "example.com:8443", "example.com", ["port"]],
      ["https://3232235521/", "192.168.0.1", "192.168.0.1", ["address", "local"]],
      ["https://8.8.8.8/", "8.8.8.8", "8.8.8.8", ["address"]],
      ["https://[::1]/", "[::1]", "[::1]", ["address", "local"]],
      ["http://localhost:3000/", "localhost:3000", "localhost", ["insecure", "local", "port"]],
      ["https://printer.local./", "printer.local.", "printer.local", ["local"]],
      ["https://bank.com\\@evil.example/", "bank.com", "bank.com", []]
    ]
    for (const [url, host, domain, warnings] of table) {
      const { domain: shown, host: at, warnings: warned } = look(url)
      assert.deepStrictEqual([at, shown, warned], [host, domain, warnings], url)
    }
  })

  it("is the whole address in one line of ASCII", () => {
    assert.strictEqual(look("https://example.com/a b\n?q=ü\u202e").href, "https://example.com/a%20b?q=%C3%BC%E2%80%AE")
  })

  it("[SEC-10] is nothing where it is no page", () => {
    for (const url of ["javascript:alert(1)", "data:text/html,x", "file:///x", "myapp://x", "ftp://example.com/"]) {
      assert.deepStrictEqual(ElicitedUrl.inspect(url), Result.fail("scheme"), url)
    }
    for (const url of ["", "example.com", "https://", "https://exa mple.com/"]) {
      assert.deepStrictEqual(ElicitedUrl.inspect(url), Result.fail("malformed"), url)
    }
  })
})
