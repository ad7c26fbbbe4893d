/** Pure: what kind of place an IP address or a host name leads to, by the special-purpose registries of IANA. */

/** Kinds of addresses. Only `public` ones are for everybody to fetch. */
export type AddressClass =
  | "public"
  | "loopback"
  | "private"
  | "link-local"
  | "unspecified"
  | "multicast"
  | "documentation"
  | "reserved"

type Block = readonly [network: string, bits: number, kind: AddressClass]

/** The IANA registry for IPv4 (RFC 6890); the most special first. */
const blocks4: ReadonlyArray<Block> = [
  ["127.0.0.0", 8, "loopback"],
  ["0.0.0.0", 8, "unspecified"],
  ["10.0.0.0", 8, "private"],
  ["172.16.0.0", 12, "private"],
  ["192.168.0.0", 16, "private"],
  // Shared address space of carriers, which clouds use inside as well (RFC 6598).
  ["100.64.0.0", 10, "private"],
  ["169.254.0.0", 16, "link-local"],
  ["192.0.2.0", 24, "documentation"],
  ["198.51.100.0", 24, "documentation"],
  ["203.0.113.0", 24, "documentation"],
  ["192.0.0.0", 24, "reserved"],
  ["192.31.196.0", 24, "reserved"],
  ["192.52.193.0", 24, "reserved"],
  ["192.88.99.0", 24, "reserved"],
  ["192.175.48.0", 24, "reserved"],
  ["198.18.0.0", 15, "reserved"],
  ["224.0.0.0", 4, "multicast"],
  ["240.0.0.0", 4, "reserved"]
]

/** What is special in 2000::/3, the one block that is given out to the public, and what has a name outside of it. */
const blocks6: ReadonlyArray<Block> = [
  ["::1", 128, "loopback"],
  ["::", 128, "unspecified"],
  ["fc00::", 7, "private"],
  // Site-local, which RFC 3879 gave up and networks still route.
  ["fec0::", 10, "private"],
  // Translation inside one network (RFC 8215).
  ["64:ff9b:1::", 48, "private"],
  ["fe80::", 10, "link-local"],
  ["ff00::", 8, "multicast"],
  ["2001:db8::", 32, "documentation"],
  ["3fff::", 20, "documentation"],
  ["2001::", 23, "reserved"],
  ["2620:4f:8000::", 48, "reserved"]
]

/** Addresses that carry an IPv4 address, to which they lead: from which 16-bit word on, and whether it is inverted. */
const carriers: ReadonlyArray<readonly [network: string, bits: number, word: number, inverted: boolean]> = [
  // IPv4-mapped, IPv4-translated (RFC 2765), NAT64 (RFC 6052), IPv4-compatible, 6to4, Teredo.
  ["::ffff:0:0", 96, 6, false],
  ["::ffff:0:0:0", 96, 6, false],
  ["64:ff9b::", 96, 6, false],
  ["::", 96, 6, false],
  ["2002::", 16, 1, false],
  ["2001::", 32, 6, true]
]

type Words = ReadonlyArray<number>

const decimal = /^(?:0|[1-9][0-9]{0,2})$/
const hexadecimal = /^[0-9a-fA-F]{1,4}$/

/** Four decimal numbers: the one spelling that is left once a URL has been parsed. */
const parse4 = (text: string): Words | undefined => {
  const parts = text.split(".")
  if (parts.length !== 4 || !parts.every((part) => decimal.test(part) && Number(part) < 256)) return undefined
  const [a = 0, b = 0, c = 0, d = 0] = parts.map(Number)
  return [a * 256 + b, c * 256 + d]
}

/** The words on one side of a gap; the last may be a dotted IPv4 address where `dotted`. */
const parseWords = (text: string, dotted: boolean): Words | undefined => {
  if (text === "") return []
  const words: Array<number> = []
  const parts = text.split(":")
  for (const [index, part] of parts.entries()) {
    if (hexadecimal.test(part)) {
      words.push(Number.parseInt(part, 16))
      continue
    }
    const last = dotted && index === parts.length - 1 ? parse4(part) : undefined
    if (last === undefined) return undefined
    words.push(...last)
  }
  return words
}

const parse6 = (text: string): Words | undefined => {
  const [before = "", after, ...more] = text.split("::")
  if (more.length > 0) return undefined
  const head = parseWords(before, after === undefined)
  const tail = parseWords(after ?? "", true)
  if (head === undefined || tail === undefined) return undefined
  const gap = 8 - head.length - tail.length
  if (after === undefined ? gap !== 0 : gap < 1) return undefined
  return [...head, ...Array.from({ length: gap }, () => 0), ...tail]
}

const isInside = (words: Words, network: Words, bits: number): boolean =>
  words.every((word, index) => {
    const shift = 16 - Math.min(16, Math.max(0, bits - index * 16))
    return word >> shift === (network[index] ?? 0) >> shift
  })

interface Compiled<Rest> {
  readonly contains: (address: Words) => boolean
  readonly rest: Rest
}

const compile = <Rest extends ReadonlyArray<unknown>>(
  parse: (text: string) => Words | undefined,
  blocks: ReadonlyArray<readonly [network: string, bits: number, ...rest: Rest]>
): ReadonlyArray<Compiled<Rest>> =>
  blocks.map(([network, bits, ...rest]) => {
    const words = parse(network) ?? []
    return { contains: (address) => isInside(address, words, bits), rest }
  })

const table4 = compile(parse4, blocks4)
const table6 = compile(parse6, blocks6)
const embedded = compile(parse6, carriers)
const globalUnicast: Words = [0x2000]

const classify4 = (words: Words): AddressClass => table4.find(({ contains }) => contains(words))?.rest[0] ?? "public"

const classify6 = (words: Words): AddressClass => {
  const special = table6.find(({ contains }) => contains(words))?.rest[0]
  // `::1` and `::` look as if they carried an address.
  if (special === "loopback" || special === "unspecified") return special
  const carrier = embedded.find(({ contains }) => contains(words))
  if (carrier === undefined) return special ?? (isInside(words, globalUnicast, 3) ? "public" : "reserved")
  const [word, inverted] = carrier.rest
  const carried = words.slice(word, word + 2)
  return classify4(inverted ? carried.map((part) => part ^ 0xffff) : carried)
}

/** The kind of an IPv4 or IPv6 address; `undefined` for what is no address. A zone (`%eth0`) does not matter. */
export const classify = (address: string): AddressClass | undefined => {
  const four = parse4(address)
  if (four !== undefined) return classify4(four)
  const zone = address.indexOf("%")
  const six = parse6(zone === -1 ? address : address.slice(0, zone))
  return six === undefined ? undefined : classify6(six)
}

/** A host as a URL writes it, without brackets and without the dots that may end a full name. */
export const bareHost = (hostname: string): string => {
  const host = hostname.toLowerCase()
  return host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host.replace(/\.+$/, "")
}

/** Names that stand for no place on the public Internet (RFC 6761, RFC 6762, RFC 8375, and `internal` by ICANN). */
const localNames: ReadonlyArray<readonly [name: string, kind: AddressClass]> = [
  ["localhost", "loopback"],
  ["local", "link-local"],
  ["internal", "private"],
  ["home.arpa", "private"]
]

/** The kind that a host name has by itself; `undefined` where only its addresses can tell. */
const classifyName = (host: string): AddressClass | undefined => {
  for (const [name, kind] of localNames) {
    if (host === name || host.endsWith(`.${name}`)) return kind
  }
  // A name without a dot is looked up in the network that one happens to be in.
  return host.includes(".") ? undefined : "private"
}

/** The kind of the host of a URL: `undefined` for a name whose addresses have to be looked up. */
export const classifyHost = (hostname: string): AddressClass | undefined => {
  const host = bareHost(hostname)
  return classify(host) ?? classifyName(host)
}
