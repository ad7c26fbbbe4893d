/** Pure: the addresses that a login may come back to. */
import { bareHost } from "./addresses.ts"
import { isLoopback, isSecure } from "./secureUrl.ts"

/** Schemes of an app itself are reversed domain names (RFC 8252, 7.1), which nothing dangerous is called. */
const privateScheme = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/

/** Why a login may not come back here: neither https, nor the loopback interface, nor the app's own scheme (ACL-22). */
export const redirectFault = (uri: string): string | undefined => {
  const url = URL.parse(uri)
  if (url === null) return "it is no URL"
  if (uri.includes("#")) return "it has a fragment"
  return isSecure(url) || privateScheme.test(url.protocol)
    ? undefined
    : "it is neither https nor on the loopback interface"
}

/** `native` for what comes back to the machine of the person, `web` for what comes back to a server (ACL-12). */
export const applicationType = (redirectUris: ReadonlyArray<string>): "native" | "web" => {
  const isWeb = (uri: string): boolean => {
    const url = URL.parse(uri)
    return url !== null && url.protocol === "https:" && !isLoopback(url)
  }
  return redirectUris.length > 0 && redirectUris.every(isWeb) ? "web" : "native"
}

const withoutPort = (uri: string): string | undefined => {
  const url = URL.parse(uri)
  if (url === null || url.protocol !== "http:" || !isLoopback(url)) return undefined
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
