/** Pure: the addresses that a login may come back to, and client ids that are addresses. */
import { bareHost, classifyHost } from "./addresses.ts"

const isLoopbackHost = (url: URL): boolean => classifyHost(url.hostname) === "loopback"

/** Whether an address is on the machine itself. */
export const isLocal = (address: string): boolean => {
  const url = URL.parse(address)
  return url !== null && isLoopbackHost(url)
}

/**
 * Why a page is not shown to a person: only https is (SEC-10). Pages on the machine itself are for servers that are there
 * as well, http or not: those elsewhere could send a browser to whatever listens there.
 */
export const pageFault = (url: URL, local: boolean): string | undefined => {
  if (url.username !== "" || url.password !== "") return "it holds a user name or a password"
  if (isLoopbackHost(url) && !local) return "it leads to this machine, and the server is elsewhere"
  if (url.protocol === "https:") return undefined
  return url.protocol === "http:" && isLoopbackHost(url) ? undefined : "it is not https"
}

/** Schemes of an app itself are reversed domain names (RFC 8252, 7.1), which nothing dangerous is called. */
const privateScheme = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/

/** Why a login may not come back here: neither https, nor the loopback interface, nor the app's own scheme (ACL-22). */
export const redirectFault = (uri: string): string | undefined => {
  const url = URL.parse(uri)
  if (url === null) return "it is no URL"
  if (uri.includes("#")) return "it has a fragment"
  if (url.protocol === "https:" || privateScheme.test(url.protocol)) return undefined
  return url.protocol === "http:" && isLoopbackHost(url)
    ? undefined
    : "it is neither https nor on the loopback interface"
}

/** `native` for what comes back to the machine of the person, `web` for what comes back to a server (ACL-12). */
export const applicationType = (redirectUris: ReadonlyArray<string>): "native" | "web" => {
  const isWeb = (uri: string): boolean => {
    const url = URL.parse(uri)
    return url !== null && url.protocol === "https:" && !isLoopbackHost(url)
  }
  return redirectUris.length > 0 && redirectUris.every(isWeb) ? "web" : "native"
}

const withoutPort = (uri: string): string | undefined => {
  const url = URL.parse(uri)
  if (url === null || url.protocol !== "http:" || !isLoopbackHost(url)) return undefined
  return `${bareHost(url.hostname)}${url.pathname}${url.search}`
}

/** Whether two addresses are one but for the port of the loopback interface, which is free there (RFC 8252, 7.3). */
export const isSameButPort = (a: string, b: string): boolean => {
  const bare = withoutPort(a)
  return a === b || (bare !== undefined && bare === withoutPort(b))
}

/** Whether an address is a registered one: to the letter, or on the loopback interface where no port was registered. */
export const isCovered = (registered: string, uri: string): boolean =>
  registered === uri || (URL.parse(registered)?.port === "" && isSameButPort(registered, uri))

/** What an address that stands for any port becomes with the port of another one. */
const withPortOf = (uri: string, other: string): string | undefined => {
  const url = URL.parse(uri)
  const port = URL.parse(other)?.port
  if (url === null || port === undefined || withoutPort(uri) === undefined) return undefined
  if (url.port === "0") url.port = port
  return url.port === port ? url.href : undefined
}

/** Other forms in which the same listener can be named, such as `localhost` for `127.0.0.1`. */
export const alternatives = (uri: string, offered: ReadonlyArray<string>): ReadonlyArray<string> =>
  [
    ...new Set(offered.flatMap((other) => withPortOf(other, uri) ?? []))
  ].filter((other) => other !== uri)

const parts = /^https:\/\/([^/?#\\]+)(\/[^?#\\]*)(?:\?[^#]*)?$/
const dots = /^(?:\.|%2e){1,2}$/i

/** Why an address cannot be a client id (ACL-09): read as it is written, since a parser would tidy it first. */
export const clientIdFault = (clientId: string): string | undefined => {
  const [, authority = "", path = ""] = parts.exec(clientId) ?? []
  if (!URL.canParse(clientId) || authority === "") return "it is no https URL with a path and without a fragment"
  if (authority.includes("@")) return "it holds a user name or a password"
  if (path === "/") return "it has no path"
  if (path.split("/").some((segment) => dots.test(segment))) return "it has a segment of dots"
  // Whatever else a parser changes leaves two spellings of one name, which are compared to the letter.
  return /[\s\p{C}]/u.test(clientId) ? "it has a blank in it" : undefined
}
