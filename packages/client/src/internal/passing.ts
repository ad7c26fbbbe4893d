/** Which failures may pass: the same request can go well a little later. */
import type { Reason } from "../McpClientError.ts"

export const isPassing = (reason: Reason): boolean => {
  switch (reason._tag) {
    case "ConnectionLost":
    case "TimedOut":
      return true
    case "HttpRefused":
      return reason.final !== true && (reason.status === undefined || isPassingStatus(reason.status))
    default:
      return false
  }
}

/** Success without an answer is one that was cut off on its way. */
const isPassingStatus = (status: number): boolean => status < 300 || status === 408 || status === 429 || status >= 500
