import type * as Fiber from "effect/Fiber"
import type * as Headers from "effect/http/Headers"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import { type Classified, eraOf } from "../Classify.ts"
import type { Facts } from "../Exchange.ts"
import * as McpHeaders from "../McpHeaders.ts"
import { CurrentPrincipal } from "../Principal.ts"
import { unreadableIdOn } from "./versions.ts"

/** Facts of a message that came over HTTP. */
export interface HttpFacts extends Facts {
  readonly headers: Headers.Headers
}

/** An empty header says no more than an absent one. */
const present = (header: string | undefined): string | undefined => header === "" ? undefined : header

export const factsOf = (
  request: HttpServerRequest.HttpServerRequest,
  fiber: Fiber.Fiber<unknown, unknown>
): HttpFacts => {
  const { headers } = request
  return {
    transport: "http",
    connection: undefined,
    sessionId: present(headers[McpHeaders.names.sessionId]),
    protocolVersion: present(headers[McpHeaders.names.protocolVersion]),
    headers,
    principal: fiber.getRef(CurrentPrincipal),
    classified: undefined
  }
}

/** Adds what was found out; a modern message belongs to no session, whatever its headers say (HTTP-66). */
export const withEra = (facts: HttpFacts, classified: Classified): HttpFacts => ({
  transport: facts.transport,
  connection: facts.connection,
  sessionId: classified._tag === "Modern" ? undefined : facts.sessionId,
  protocolVersion: facts.protocolVersion,
  headers: facts.headers,
  principal: facts.principal,
  classified
})

/** What the version header alone says, where nothing else can be asked. */
export const isModern = (headers: Headers.Headers): boolean => {
  const version = headers[McpHeaders.names.protocolVersion]
  return version !== undefined && eraOf(version) === "modern"
}

/** The id of an answer to a request whose own cannot be read: `null` where the header names a revision that wants one. */
export const unreadableId = (headers: Headers.Headers): null | undefined => {
  const version = headers[McpHeaders.names.protocolVersion]
  return version !== undefined && eraOf(version) === "legacy" ? unreadableIdOn(version) : undefined
}
