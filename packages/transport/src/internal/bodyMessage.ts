/** From the JSON of a POST to what it says. */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Result from "effect/Result"
import type { Json } from "./json.ts"
import * as Refusals from "./refusals.ts"

/** Why a body is no message. */
export interface Unreadable {
  readonly error: JsonRpc.WireError
  /** That of the request it would have been. */
  readonly id: JsonRpc.RequestId | undefined
}

const unreadable = (error: JsonRpc.WireError, id?: JsonRpc.RequestId) => Result.fail<Unreadable>({ error, id })

/** A message, or the parts of a batch as they came. */
export const readMessage = (
  json: Json,
  depth: number
): Result.Result<JsonRpc.Message | Array<unknown>, Unreadable> => {
  if (Result.isFailure(json)) return unreadable(Refusals.unreadable(json.failure, depth))
  if (Array.isArray(json.success)) return Result.succeed(json.success)
  const message = JsonRpc.parse(json.success)
  if (Result.isSuccess(message)) return Result.succeed(message.success)
  const { id, reason, response } = message.failure
  return unreadable(Refusals.invalidRequest(reason), response ? undefined : id)
}
