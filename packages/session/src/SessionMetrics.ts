/**
 * The metrics of sessions, named as the semantic conventions of OpenTelemetry for MCP name them. Recorded where
 * `Telemetry` says so.
 *
 * @since 0.1.0
 */
import * as Metric from "effect/Metric"

/** In seconds, as the conventions advise. */
const boundaries = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

const duration = (name: string, description: string): Metric.Histogram<number> =>
  Metric.histogram(name, { description, boundaries, attributes: { unit: "s" } })

/**
 * From the arrival of a request to its answer.
 *
 * @category metrics
 * @since 0.1.0
 */
export const serverOperationDuration = duration(
  "mcp.server.operation.duration",
  "Duration of an MCP request as the receiver sees it, in seconds"
)

/**
 * From the sending of a request to its answer.
 *
 * @category metrics
 * @since 0.1.0
 */
export const clientOperationDuration = duration(
  "mcp.client.operation.duration",
  "Duration of an MCP request as the sender sees it, in seconds"
)

/**
 * @category metrics
 * @since 0.1.0
 */
export const serverSessionDuration = duration(
  "mcp.server.session.duration",
  "Duration of an MCP session as the server sees it, in seconds"
)

/**
 * @category metrics
 * @since 0.1.0
 */
export const clientSessionDuration = duration(
  "mcp.client.session.duration",
  "Duration of an MCP session as the client sees it, in seconds"
)

/**
 * Sessions that are open now.
 *
 * @category metrics
 * @since 0.1.0
 */
export const serverActiveSessions = Metric.gauge("mcp.server.active_sessions", {
  description: "MCP sessions that are open",
  attributes: { unit: "{session}" }
})

/**
 * @category metrics
 * @since 0.1.0
 */
export const clientActiveSessions = Metric.gauge("mcp.client.active_sessions", {
  description: "MCP sessions that are open",
  attributes: { unit: "{session}" }
})

/**
 * Requests that are being served now.
 *
 * @category metrics
 * @since 0.1.0
 */
export const serverActiveRequests = Metric.gauge("mcp.server.active_requests", {
  description: "MCP requests that are being served",
  attributes: { unit: "{request}" }
})

/**
 * Requests that wait for an answer now.
 *
 * @category metrics
 * @since 0.1.0
 */
export const clientActiveRequests = Metric.gauge("mcp.client.active_requests", {
  description: "MCP requests that wait for an answer",
  attributes: { unit: "{request}" }
})
