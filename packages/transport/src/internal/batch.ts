import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as Result from "effect/Result"
import type { Classifier, Legacy } from "../Classify.ts"
import type { Admission, Endpoint, Rejected } from "../Endpoint.ts"
import { type Facts, noOutlet } from "../Exchange.ts"
import * as Refusals from "./refusals.ts"
import type { Reply } from "./respond.ts"

export interface Batch {
  readonly classified: Legacy
  readonly messages: ReadonlyArray<JsonRpc.Message>
  /** The answers to elements that are no messages. */
  readonly refusals: ReadonlyArray<JsonRpc.Failure>
  /** How many of the messages want an answer. */
  readonly requests: number
}

/** Reads a batch; `undefined` where its revision has none, or where one element is of a revision that has none. */
export const readBatch = (
  values: ReadonlyArray<unknown>,
  headers: Headers.Headers,
  classifier: Classifier
): Batch | Rejected | undefined => {
  const classified = classifier.bare(headers)
  if (classified._tag === "Rejected") return classified
  const messages: Array<JsonRpc.Message> = []
  const refusals: Array<JsonRpc.Failure> = []
  let requests = 0
  for (const value of values) {
    const parsed = JsonRpc.parse(value)
    if (Result.isFailure(parsed)) {
      if (!Refusals.isAnswerable(value, parsed.failure)) continue
      // The one revision that has batches wants an id in every error.
      refusals.push(JsonRpc.failure(parsed.failure.id ?? null, Refusals.invalidRequest(parsed.failure.reason)))
      continue
    }
    const message = parsed.success
    if (classifier.message(message, headers)._tag !== "Legacy") return undefined
    messages.push(message)
    if (JsonRpc.isRequest(message)) requests++
  }
  return { classified, messages, refusals, requests }
}

/**
 * Hands the messages over one after the other; requests are answered through the reply. Gives what the first admission with
 * a session said, or why nothing at all was admitted.
 */
export const admitAll = Effect.fnUntraced(function*(
  endpoint: Endpoint["Service"],
  messages: ReadonlyArray<JsonRpc.Message>,
  facts: Facts,
  reply: Reply
) {
  let admission: Admission = {}
  let rejected: Rejected | undefined = undefined
  let admitted = 0
  for (const message of messages) {
    const slot = JsonRpc.isRequest(message) ? reply.slot() : undefined
    const result = yield* Effect.result(endpoint.handle({ message, facts, outlet: slot ?? noOutlet }))
    if (Result.isSuccess(result)) {
      admitted++
      if (admission.sessionId === undefined) admission = result.success
      if (slot !== undefined) slot.disconnected = result.success.disconnected
    } else {
      rejected ??= result.failure
      if (JsonRpc.isRequest(message)) slot?.answer(JsonRpc.failure(message.id, result.failure.error))
    }
  }
  return { admission, rejected: admitted === 0 ? rejected : undefined }
})
