import { assert, describe, it } from "@effect/vitest"
import { AuthError, OutboundGuard } from "@mcpfx/auth"
import { Effect, Layer, Option } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"

const kinds: ReadonlyArray<readonly [OutboundGuard.AddressClass, ReadonlyArray<string>]> = [
  ["public", ["1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0", "198.17.255.255"]],
  ["public", ["2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "2002:808:808::", "64:ff9b::8.8.8.8"]],
  ["loopback", ["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "::127.0.0.1", "2002:7f00:1::"]],
  ["loopback", ["64:ff9b::127.0.0.1", "::ffff:0:127.0.0.1", "2001:0:4136:e378:8000:63bf:80ff:fffe"]],
  ["private", ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1", "100.127.255.255"]],
  ["private", ["fc00::1", "fdff::1", "fec0::1", "::ffff:a00:1", "::192.168.1.1", "64:ff9b:1::a00:1", "fd00::1%eth0"]],
  ["link-local", ["169.254.169.254", "169.254.0.0", "fe80::1", "febf::1", "fe80::1%lo", "::ffff:169.254.169.254"]],
  ["unspecified", ["0.0.0.0", "0.1.2.3", "::", "0:0:0:0:0:0:0:0", "::ffff:0.0.0.0"]],
  ["multicast", ["224.0.0.1", "239.255.255.255", "ff02::1"]],
  ["documentation", ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"]],
  ["reserved", ["192.0.0.1", "198.18.0.1", "198.19.255.255", "240.0.0.1", "255.255.255.255", "192.88.99.1"]],
  ["reserved", ["100::1", "5f00::1", "4000::1", "2001:10::1", "2001:2::1", "::ffff:255.255.255.255"]]
]

describe("addresses", () => {
  for (const [kind, addresses] of kinds) {
    it(`[SEC-05] ${kind}: ${addresses.join(" ")}`, () => {
      for (const address of addresses) assert.strictEqual(OutboundGuard.classify(address), kind, address)
    })
  }

  it("[SEC-05] what is no address has no kind", () => {
    const others = ["", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.4 ", "a.b.c.d", "example.com"]
    const sixes = [":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8", "g::", "1.2.3.4::"]
    for (const text of [...others, ...sixes, "12345::", "::1.2.3"]) {
      assert.isUndefined(OutboundGuard.classify(text), text)
    }
  })

  const hosts: ReadonlyArray<readonly [string, OutboundGuard.AddressClass | undefined]> = [
    ["http://2130706433", "loopback"],
    ["http://0x7f.1", "loopback"],
    ["http://0177.0.0.1", "loopback"],
    ["http://127.1", "loopback"],
    ["http://①②⑦.0.0.1", "loopback"],
    ["http://127.0.0.1.", "loopback"],
    ["http://[::FFFF:7F00:1]", "loopback"],
    ["http://localhost", "loopback"],
    ["http://LOCALHOST.", "loopback"],
    ["http://a.b.localhost", "loopback"],
    ["http://0xa9fea9fe", "link-local"],
    ["http://printer.local", "link-local"],
    ["http://metadata.google.internal", "private"],
    ["http://metadata.google.internal.", "private"],
    ["http://router.home.arpa", "private"],
    ["http://intranet", "private"],
    ["http://intranet.", "private"],
    ["http://example.com", undefined],
    ["http://localhost.example.com", undefined],
    ["http://notlocalhost.com", undefined]
  ]
  for (const [url, kind] of hosts) {
    it(`[SEC-05] ${url} is ${kind ?? "for the resolver to tell"}`, () => {
      assert.strictEqual(OutboundGuard.classifyHost(new URL(url).hostname), kind)
    })
  }
})

const client = HttpClient.make((request) => Effect.succeed(HttpClientResponse.fromWeb(request, new Response("hi"))))
const moved = HttpClientRequest.get("https://10.0.0.1/p?secret=1")
const remote: OutboundGuard.Policy = { loopback: false }

const fetched = (url: string, policy: OutboundGuard.Policy) =>
  Effect.gen(function*() {
    const guard = yield* OutboundGuard.CurrentOutboundGuard
    return yield* guard.guard(client, policy).get(url).pipe(
      Effect.as("fetched"),
      Effect.catch((error) =>
        Effect.succeed(
          Option.match(AuthError.find(error), { onNone: () => "another error", onSome: ({ reason }) => reason._tag })
        )
      )
    )
  })

describe("the default guard", () => {
  it.effect("[SEC-05] lets names and public addresses through, and refuses the rest by number and by name", () =>
    Effect.gen(function*() {
      for (const url of ["https://example.com/a", "https://1.1.1.1/", "https://[2606:4700::1111]/"]) {
        assert.strictEqual(yield* fetched(url, remote), "fetched", url)
      }
      for (
        const host of ["10.0.0.1", "169.254.169.254", "[::1]", "localhost", "a.local", "intranet", "0", "0x0a000001"]
      ) {
        assert.strictEqual(yield* fetched(`https://${host}/`, remote), "InsecureServer", host)
      }
    }))

  it.effect("[SEC-05] loopback is open where the policy says so, and nothing else with it", () =>
    Effect.gen(function*() {
      const policy = { loopback: true }
      for (const host of ["localhost", "127.0.0.1", "[::1]"]) {
        assert.strictEqual(yield* fetched(`http://${host}:3000/`, policy), "fetched", host)
      }
      for (const host of ["10.0.0.1", "0.0.0.0", "169.254.169.254", "intranet"]) {
        assert.strictEqual(yield* fetched(`http://${host}/`, policy), "InsecureServer", host)
      }
    }))

  it.effect("[SEC-05] an option opens kinds of addresses, and hosts exactly", () =>
    Effect.gen(function*() {
      for (const url of ["https://10.1.2.3/", "https://intranet/", "https://LOGIN.local./", "https://169.254.1.1/"]) {
        assert.strictEqual(yield* fetched(url, remote), "fetched", url)
      }
      for (const url of ["https://169.254.1.2/", "https://a.login.local/", "https://127.0.0.1/"]) {
        assert.strictEqual(yield* fetched(url, remote), "InsecureServer", url)
      }
    }).pipe(Effect.provide(OutboundGuard.layer({ allow: ["private"], hosts: ["login.local", "169.254.1.1"] }))))

  it.effect("[SEC-05] looks at the address that is sent to, whatever the client makes of the request before", () =>
    Effect.gen(function*() {
      const guarded = OutboundGuard.make().guard(HttpClient.mapRequest(client, () => moved), remote)
      const error = yield* Effect.flip(guarded.get("https://example.com/"))
      const found = Option.getOrThrow(AuthError.find(error))
      assert.strictEqual(found.message, "https://10.0.0.1/p is not safe: its address is private")
    }))

  it.effect("is the one that a layer puts in its place", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* fetched("https://10.0.0.1/", remote), "fetched")
    }).pipe(Effect.provide(Layer.succeed(OutboundGuard.CurrentOutboundGuard, { guard: (client) => client }))))
})
