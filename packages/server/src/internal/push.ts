/** Asking on revisions with sessions: a request of its own, on the stream of the request that is being served (RPC-17). */
import * as Capabilities from "@mcpfx/schema/Capabilities"
import * as Codes from "@mcpfx/schema/Codes"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Methods from "@mcpfx/schema/Methods"
import type { Asker, PeerFailure } from "@mcpfx/session/Peer"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import { AskTimeout, CapabilityMissing, Declined, type InputError, Unanswered } from "../ServerError.ts"
import type { Interaction, Question } from "./interaction.ts"

type Request = RequestContext["Service"]

/** What of a question the client cannot answer; `undefined` where it can. */
export const uncovered = (question: Question, capabilities: Capabilities.Client): Capabilities.Ask | undefined =>
  question.asks.find((ask) => !Capabilities.covers(capabilities, ask))

const send = (asker: Asker, { request, timeout }: Question): Effect.Effect<unknown, PeerFailure> => {
  const options = { timeout }
  switch (request.method) {
    case "elicitation/create":
      return asker.request(Methods.ElicitationCreate, request.params, options)
    case "sampling/createMessage":
      return asker.request(Methods.SamplingCreateMessage, request.params, options)
    case "roots/list":
      return asker.request(Methods.RootsList, request.params ?? {}, options)
  }
}

/** What became of a request, in the words of questions. */
const failed = (failure: PeerFailure, ask: Capabilities.Ask): InputError => {
  switch (failure._tag) {
    case "RequestTimeout":
      return new AskTimeout({ ask, millis: failure.millis })
    case "MethodUnsupported":
      return new CapabilityMissing({ ask })
    case "MessageTooLarge":
      return new Unanswered({ ask, reason: "error", detail: `a message has at most ${failure.limit} bytes` })
    case "InvalidResponse":
      return new Unanswered({ ask, reason: "invalid" })
    case "PeerError":
      if (failure.code === Codes.userRejected) return new Declined({ ask })
      return failure.code === Codes.methodNotFound
        ? new CapabilityMissing({ ask })
        : new Unanswered({ ask, reason: "error" })
    default:
      return new Unanswered({ ask, reason: "closed" })
  }
}

const ask = (request: Request, question: Question): Effect.Effect<JsonRpc.JsonObject, InputError> => {
  const [first] = question.asks
  const missing = uncovered(question, request.clientCapabilities)
  const { asker } = request
  // Without a stream to the client there is nobody who could be asked, whatever it declared.
  if (missing !== undefined || asker === undefined) {
    return Effect.fail(new CapabilityMissing({ ask: missing ?? first }))
  }
  return Effect.matchEffect(send(asker, question), {
    onFailure: (failure) => Effect.fail(failed(failure, first)),
    onSuccess: (answer) =>
      JsonRpc.isJsonObject(answer)
        ? Effect.succeed(answer)
        : Effect.fail(new Unanswered({ ask: first, reason: "invalid" }))
  })
}

/** One pass is all there is: what runs, runs once. */
export const push = (request: Request): Interaction => ({
  ask: (question) => ask(request, question),
  step: (step) => Effect.suspend(() => step.run(SecureRandom.uuidV4Unsafe()))
})
