/** What requests and questions are known by when they come again. */
import type { InputRequest } from "@mcpfx/schema/InputRequired"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { canonical } from "./canonical.ts"
import { sha256 } from "./sha256.ts"

/** Up to so many characters a text costs less than its digest: this is where sealing it begins to cost more. */
const shortText = 128

/** Which request a state belongs to: all that it says, or the digest of that. A text begins with `[`, no digest does. */
export const ofRequest = ({ method, params }: JsonRpc.Request): string => {
  const text = canonical([method, params?.["name"], params?.["uri"], params?.["arguments"] ?? {}])
  return text.length <= shortText ? text : sha256(text)
}

/** The text of what is asked; an id that only tells visits apart is no part of it. */
const textOf = (request: InputRequest): string => {
  if (request.method !== "elicitation/create" || request.params.mode !== "url") return canonical(request)
  const { elicitationId: _, ...params } = request.params
  return canonical({ ...request, params })
}

/** Requests are values: one that is asked again, in the next pass or by the next call, has the digest it had. */
const digests = new WeakMap<InputRequest, string>()

/** The digest of what is asked. */
export const ofQuestion = (request: InputRequest): string => {
  const known = digests.get(request)
  if (known !== undefined) return known
  const digest = sha256(textOf(request))
  digests.set(request, digest)
  return digest
}
