/**
 * What to show of a page before it is visited: whose it is, and what is odd about its address (ELI-14).
 *
 * Pure; nothing is looked up, fetched or opened.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"

/**
 * What a user should be warned of:
 *
 * - `insecure`: not https; anybody on the way can read and change the page.
 * - `punycode`: a name in another script, which may look like another name.
 * - `userinfo`: a user name or password in front of the host, which is there to be taken for the host.
 * - `address`: a number instead of a name.
 * - `local`: this very machine, or a name of the local network.
 * - `port`: not the usual port.
 *
 * @category models
 * @since 0.1.0
 */
export type Warning = "insecure" | "punycode" | "userinfo" | "address" | "local" | "port"

/**
 * @category models
 * @since 0.1.0
 */
export interface ElicitedUrl {
  /** The whole address in its normal form, in ASCII: to be shown in full. */
  readonly href: string
  /** The host in ASCII, names in other scripts as `xn--…`: to be shown apart and first. */
  readonly host: string
  /** The last two labels of the host's name; the host itself where it is a number or has fewer. For emphasis only. */
  readonly domain: string
  readonly warnings: ReadonlyArray<Warning>
}

/** Why an address is not one to visit. @category models @since 0.1.0 */
export type Unusable = "malformed" | "scheme"

const isNumeric = (host: string): boolean => host.startsWith("[") || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host)

const localNames = /(?:^|\.)(?:localhost|local|internal|lan|home\.arpa)$/

const localNumbers =
  /^(?:127\.|10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|0\.)|^\[(?:::1?\]|f[cd]|fe[89ab])/

const isLocal = (name: string): boolean =>
  isNumeric(name) ? localNumbers.test(name) : localNames.test(name) || !name.includes(".")

/**
 * Looks at an address. Only `https:` and `http:` are for a browser; `javascript:`, `data:`, `file:` and all others are not.
 *
 * **Example** (A name in another script)
 *
 * ```ts
 * import { ElicitedUrl } from "@mcpfx/client"
 * import { Result } from "effect"
 *
 * const looked = Result.getOrThrow(ElicitedUrl.inspect("https://user@www.аpple.com/login"))
 * looked.host // => "www.xn--pple-43d.com"
 * looked.warnings // => ["punycode", "userinfo"]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const inspect = (url: string): Result.Result<ElicitedUrl, Unusable> => {
  const parsed = Result.getOrUndefined(Result.try(() => new URL(url)))
  if (parsed === undefined) return Result.fail("malformed")
  const { hostname, href, password, port, protocol, username } = parsed
  if (protocol !== "https:" && protocol !== "http:") return Result.fail("scheme")
  const name = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname
  const numeric = isNumeric(name)
  const found: Record<Warning, boolean> = {
    insecure: protocol === "http:",
    punycode: /(?:^|\.)xn--/.test(name),
    userinfo: username !== "" || password !== "",
    address: numeric,
    local: isLocal(name),
    port: port !== ""
  }
  return Result.succeed({
    href,
    host: parsed.host,
    domain: numeric ? name : name.split(".").slice(-2).join("."),
    warnings: order.filter((warning) => found[warning])
  })
}

const order: ReadonlyArray<Warning> = ["insecure", "punycode", "userinfo", "address", "local", "port"]
