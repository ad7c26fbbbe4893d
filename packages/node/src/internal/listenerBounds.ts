/** What bounds a server, in the numbers that Node takes. */
import * as Duration from "effect/Duration"
import type * as Http from "node:http"
import type * as Https from "node:https"

export type Server = Http.Server | Https.Server

export interface Bounds {
  readonly headersTimeout: number
  readonly requestTimeout: number
  readonly keepAliveTimeout: number
  readonly maxHeaders: number
  readonly maxHeaderBytes: number
  readonly maxConnections: number
}

/** Timers of Node cannot wait for much longer, and it adds some time of its own. */
const longest = 2_147_000_000

/** Node takes whole milliseconds, and 0 for no bound at all. */
export const millisOf = (duration: Duration.Input): number =>
  Math.min(Math.max(Math.ceil(Duration.toMillis(duration)), 1), longest)

/** The bounds that only the making of a server takes. */
export const settingsOf = (bounds: Bounds): Http.ServerOptions => ({
  headersTimeout: bounds.headersTimeout,
  requestTimeout: bounds.requestTimeout,
  keepAliveTimeout: bounds.keepAliveTimeout,
  maxHeaderSize: bounds.maxHeaderBytes,
  // How long a connection may be late is how often it is looked at.
  connectionsCheckingInterval: Math.max(Math.floor(Math.min(bounds.headersTimeout, 30_000) / 2), 250)
})

/** Sets what any server takes, whoever made it. */
export const bind = (server: Server, bounds: Bounds): void => {
  server.headersTimeout = bounds.headersTimeout
  server.requestTimeout = bounds.requestTimeout
  server.keepAliveTimeout = bounds.keepAliveTimeout
  server.maxConnections = bounds.maxConnections
  // One more is kept than may be, so that too many are seen.
  server.maxHeadersCount = bounds.maxHeaders + 1
}
