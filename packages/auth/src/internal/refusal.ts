/** The answers to those who may not pass: a status, a challenge, and a body that says no more than the transport's own do. */
import * as Codes from "@mcpfx/schema/Codes"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { eraOf } from "@mcpfx/transport/Classify"
import * as McpHeaders from "@mcpfx/transport/McpHeaders"
import type * as Headers from "effect/http/Headers"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

type Response = HttpServerResponse.HttpServerResponse

const json = (status: number, error: JsonRpc.WireError, headers: Readonly<Record<string, string>>): Response =>
  HttpServerResponse.text(JsonRpc.stringify(JsonRpc.failure(undefined, error)), {
    status,
    contentType: "application/json",
    headers: { "cache-control": "no-store", ...headers }
  })

const invalidRequest = (message: string): JsonRpc.WireError => ({ code: Codes.invalidRequest, message })

/** Whoever asks is told how to come in (RFC 9110, 15.5.2). */
export const unauthorized = (challenge: string, message: string): Response =>
  json(401, invalidRequest(message), { "www-authenticate": challenge })

export const badRequest = (challenge: string): Response =>
  json(400, invalidRequest("Invalid request: more than one access token"), { "www-authenticate": challenge })

export const forbidden = (challenge: string): Response =>
  json(403, invalidRequest("The caller's token lacks a scope"), { "www-authenticate": challenge })

/** Nobody can say what this server is called by such a host. */
export const unknownHost = (): Response => json(403, invalidRequest("Header Host names no resource of this server"), {})

const later = (headers: Headers.Headers, message: string): JsonRpc.WireError => {
  const version = headers[McpHeaders.names.protocolVersion]
  const modern = version !== undefined && eraOf(version) === "modern"
  return { code: modern ? Codes.internalError : Codes.overloaded, message }
}

/** Seconds after which a client may try again. */
const retryAfter = (millis: number): string => String(Math.max(1, Math.ceil(millis / 1000)))

export const unavailable = (headers: Headers.Headers, millis: number): Response =>
  json(503, later(headers, "Tokens cannot be verified now"), { "retry-after": retryAfter(millis) })

export const tooMany = (headers: Headers.Headers, millis: number): Response =>
  json(429, later(headers, "Too many failed attempts"), { "retry-after": retryAfter(millis) })
