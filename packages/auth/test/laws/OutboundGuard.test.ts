import { assert, describe, it } from "@effect/vitest"
import { OutboundGuard } from "@mcpfx/auth"
import * as fc from "fast-check"
import { BlockList, isIPv6 } from "node:net"

/** The special IPv4 blocks, held by another implementation of prefixes. */
const special = new BlockList()
const subnets = [
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24",
  "192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24",
  "203.0.113.0/24 224.0.0.0/4 240.0.0.0/4"
].join(" ").split(" ")
for (const subnet of subnets) {
  const [network = "", bits = ""] = subnet.split("/")
  special.addSubnet(network, Number(bits), "ipv4")
}

const dotted = (number: number): string => [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join(".")
const words = (number: number): string => `${(number >>> 16).toString(16)}:${(number & 0xffff).toString(16)}`

/** Anything, and what lies at the edges of the blocks. */
const edges = subnets.flatMap((subnet) => {
  const [network = "", bits = ""] = subnet.split("/")
  const first = network.split(".").reduce((sum, part) => sum * 256 + Number(part), 0)
  const last = first + 2 ** (32 - Number(bits)) - 1
  return [first - 1, first, last, last + 1].map((edge) => edge >>> 0)
})
const number = fc.oneof(fc.integer({ min: 0, max: 0xffffffff }), fc.constantFrom(...edges))
const kindOf = (url: string) => OutboundGuard.classifyHost(new URL(url).hostname)

describe("the kind of an address", () => {
  it("[SEC-05] is public exactly outside of the special blocks", () => {
    fc.assert(
      fc.property(number, (n) => {
        assert.strictEqual(OutboundGuard.classify(dotted(n)) === "public", !special.check(dotted(n), "ipv4"))
      }),
      { numRuns: 1000 }
    )
  })

  it("[SEC-05] is the same for all spellings that a URL may have", () => {
    fc.assert(fc.property(number, (n) => {
      const [a, b, c, d] = [n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255]
      const hex = (part: number) => `0x${part.toString(16)}`
      const octal = (part: number) => `0${part.toString(8)}`
      const spellings = [
        String(n),
        hex(n),
        octal(n),
        `${a}.${n & 0xffffff}`,
        `${hex(a)}.${octal(b)}.${n & 0xffff}`,
        [a, b, c, d].map(octal).join("."),
        `${dotted(n)}.`,
        dotted(n).replaceAll(".", "%2e")
      ]
      for (const spelling of spellings) {
        assert.strictEqual(kindOf(`https://${spelling}/`), OutboundGuard.classify(dotted(n)), spelling)
      }
    }))
  })

  it("[SEC-05] is that of the IPv4 address that an IPv6 address carries", () => {
    const mapped = number.filter((n) => n > 0xffff)
    fc.assert(fc.property(mapped, (n) => {
      const inverted = ~n >>> 0
      const carriers = [
        `::ffff:${dotted(n)}`,
        `::ffff:${words(n)}`,
        `0:0:0:0:0:FFFF:${words(n)}`,
        `::${words(n)}`,
        `::${dotted(n)}`,
        `64:ff9b::${words(n)}`,
        `::ffff:0:${words(n)}`,
        `2002:${words(n)}::1`,
        `2001:0:1:2:3:4:${words(inverted)}`
      ]
      for (const address of carriers) {
        assert.isTrue(isIPv6(address), address)
        assert.strictEqual(OutboundGuard.classify(address), OutboundGuard.classify(dotted(n)), address)
        assert.strictEqual(kindOf(`https://[${address}]/`), OutboundGuard.classify(dotted(n)), address)
      }
    }))
  })

  it("[SEC-05] is never public for an IPv6 address outside of what is given out, and known for every address", () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const kind = OutboundGuard.classify(address)
        assert.isDefined(kind)
        assert.strictEqual(kindOf(`https://[${address}]/`), kind)
        const first = Number.parseInt(new URL(`https://[${address}]/`).hostname.slice(1).split(":")[0] || "0", 16)
        if (first > 0xff && (first < 0x2000 || first > 0x3fff)) assert.notStrictEqual(kind, "public")
      }),
      { numRuns: 1000 }
    )
  })

  it("[SEC-05] is known for nothing that is no address", () => {
    fc.assert(fc.property(fc.string(), (text) => {
      const zone = text.indexOf("%")
      const bare = zone === -1 ? text : text.slice(0, zone)
      const isAddress = isIPv6(bare) || /^(?:\d{1,3}\.){3}\d{1,3}$/.test(text)
      if (!isAddress) assert.isUndefined(OutboundGuard.classify(text))
    }))
  })
})
