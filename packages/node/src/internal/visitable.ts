/** Which pages may be shown to a person, and how their addresses and names are written for one. */
import * as OutboundGuard from "@mcpfx/auth/OutboundGuard"

/** https anywhere, http on this machine only; never `javascript:`, `data:`, `file:` and the like (SEC-10). */
export const isVisitable = (url: URL): boolean =>
  url.protocol === "https:" ||
  (url.protocol === "http:" && OutboundGuard.classifyHost(url.hostname) === "loopback")

/** An address as it may stand in an error: parameters may be secret. */
export const withoutQuery = (url: URL): string =>
  url.protocol === "https:" || url.protocol === "http:" ? url.origin + url.pathname : url.protocol

/** Characters that move a cursor, change a colour or turn a line round, and ends of lines. */
const unprintable = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** A name from elsewhere in one line of a terminal. */
export const oneLine = (text: string): string => text.slice(0, 500).replace(unprintable, " ")
