/** What becomes of a handler's failure: the one place where it is told from a defect. */
import * as Capabilities from "@mcpfx/schema/Capabilities"
import { InvalidParams, isMcpError, MissingClientCapability, PeerError } from "@mcpfx/schema/McpError"
import { RequestContext } from "@mcpfx/session/RequestContext"
import * as Effect from "effect/Effect"
import { CapabilityMissing, isInputError, type Refusal, Unhandled } from "../ServerError.ts"

/** An error whose message is for the caller. */
export class Told {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

const messageOf = (error: unknown): string | undefined =>
  typeof error === "object" && error !== null && "message" in error && typeof error.message === "string" &&
    error.message !== ""
    ? error.message
    : undefined

/** The text of a failure that was declared: its message, the failure itself when it is a text, or else what is encoded of it. */
export const textOf = (error: unknown, encoded: unknown): string =>
  typeof error === "string" ? error : messageOf(error) ?? JSON.stringify(encoded) ?? String(error)

const missing = (error: CapabilityMissing): Effect.Effect<never, Refusal | Told, RequestContext> =>
  Effect.flatMap(RequestContext, ({ revision }) =>
    Effect.fail(
      revision.era === "modern"
        ? new MissingClientCapability({ required: Capabilities.required([error.ask]) })
        : new Told(error.message)
    ))

/**
 * Sorts what a handler failed with. Refusals pass. What middleware fails with, and what became of asking the client, is
 * told to the caller. Everything else is a defect: the types do not allow it, and its text may hold anything.
 */
export const sort = (failure: unknown): Effect.Effect<never, Refusal | Told, RequestContext> => {
  const error = failure instanceof Unhandled ? failure.error : failure
  if (isMcpError(error)) return error instanceof PeerError ? Effect.die(error) : Effect.fail(error)
  if (error instanceof CapabilityMissing) return missing(error)
  const message = messageOf(error)
  const meant = isInputError(error) || (failure instanceof Unhandled && failure.from !== undefined)
  return meant && message !== undefined ? Effect.fail(new Told(message)) : Effect.die(error)
}

/** For requests whose results cannot show an error: what is to be told refuses the request. */
export const refuse = (failure: unknown): Effect.Effect<never, Refusal, RequestContext> =>
  Effect.mapError(
    sort(failure),
    (error) => error instanceof Told ? new InvalidParams({ detail: error.message }) : error
  )
