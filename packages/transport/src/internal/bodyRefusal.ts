import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { BodyFailure } from "./gather.ts"
import * as Refusals from "./refusals.ts"
import { failureResponse, unavailableResponse } from "./respond.ts"

const bodyTooLarge = (limit: number): JsonRpc.WireError => ({
  ...Refusals.invalidRequest(`the body is larger than the limit of ${limit} bytes`),
  data: { reason: "MessageTooLarge", limit }
})

/** What is told to a client whose body could not be read. */
export const bodyRefusal = (
  failure: BodyFailure,
  limit: number,
  id: null | undefined,
  modern: boolean
): HttpServerResponse.HttpServerResponse => {
  switch (failure.reason) {
    case "TooLarge":
      return failureResponse(413, id, bodyTooLarge(limit))
    case "Busy":
      return unavailableResponse(modern, "Too many requests: bufferedBodies")
    case "Timeout":
      return failureResponse(408, id, Refusals.invalidRequest("the body did not arrive in time"))
    case "Broken":
      return failureResponse(400, id, Refusals.syntaxError)
  }
}
