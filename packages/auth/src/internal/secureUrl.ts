/** Pure: which addresses are safe to use by what they say themselves. */
import { classifyHost } from "./addresses.ts"

/** Whether the host of an address is this machine. */
export const isLoopback = (url: URL): boolean => classifyHost(url.hostname) === "loopback"

/** The same of a text; what is no URL is nowhere. */
export const isLocal = (address: string): boolean => {
  const url = URL.parse(address)
  return url !== null && isLoopback(url)
}

/** https anywhere, http on the loopback interface alone. */
export const isSecure = (url: URL): boolean =>
  url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url))

/**
 * Why a page is not shown to a person: only https is (SEC-10). Pages on the machine itself are for servers that are there
 * as well, http or not: those elsewhere could send a browser to whatever listens there.
 */
export const pageFault = (url: URL, local: boolean): string | undefined => {
  if (url.username !== "" || url.password !== "") return "it holds a user name or a password"
  if (isLoopback(url) && !local) return "it leads to this machine, and the server is elsewhere"
  return isSecure(url) ? undefined : "it is not https"
}
