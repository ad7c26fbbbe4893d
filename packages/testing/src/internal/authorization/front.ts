/** What stands in front of every endpoint: it counts, remembers, and lets faults in. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Fault } from "../../AuthorizationFault.ts"
import { Answer, json, refusal, type Refused, toResponse } from "./answer.ts"
import { type Incoming, read } from "./incoming.ts"
import type { Endpoint } from "./model.ts"
import { maxSeen, type Noted, type State } from "./state.ts"

export type Handler = (incoming: Incoming) => Effect.Effect<Answer, Refused>

/** Names an answer that stands for a connection that was cut, where there is no socket to cut. */
export const cutHeader = "x-test-connection-cut"

/** The name and the secret of an `Authorization: Basic` header, decoded as RFC 6749, 2.3.1 has it. */
export const basic = (header: string | undefined): { readonly id: string; readonly secret: string } | undefined => {
  const encoded = /^basic ([A-Za-z0-9+/=]+)$/i.exec(header ?? "")?.[1]
  const text = encoded === undefined ? undefined : Base64.decodeString(encoded)
  if (text === undefined || Result.isFailure(text)) return undefined
  const colon = text.success.indexOf(":")
  if (colon === -1) return undefined
  const decode = (part: string) => Result.try(() => decodeURIComponent(part.replaceAll("+", " ")))
  const [id, secret] = [decode(text.success.slice(0, colon)), decode(text.success.slice(colon + 1))]
  return Result.isSuccess(id) && Result.isSuccess(secret) ? { id: id.success, secret: secret.success } : undefined
}

const note = (state: State, endpoint: Endpoint, incoming: Incoming, now: number): Noted => {
  const { headers, json, method, parameters, url } = incoming
  const noted: Noted = {
    endpoint,
    method,
    url: url.href,
    headers: { ...headers },
    parameters: Object.fromEntries([...parameters.entries].reverse()),
    entries: parameters.entries,
    json,
    clientId: basic(headers["authorization"])?.id ?? parameters.get("client_id"),
    status: 0,
    at: now
  }
  state.seen.push(noted)
  if (state.seen.length > maxSeen) state.seen.shift()
  state.counts.set(endpoint, (state.counts.get(endpoint) ?? 0) + 1)
  return noted
}

/** The fault for the next request, if there is one that fits; it is spent by this. */
const take = (state: State, endpoint: Endpoint, fits: (fault: Fault) => boolean): Fault | undefined => {
  const waiting = state.faults.get(endpoint)
  const fault = waiting?.[0]
  if (waiting === undefined || fault === undefined || !fits(fault)) return undefined
  const { times = 1 } = fault
  if (times > 1) waiting[0] = { ...fault, times: times - 1 }
  else waiting.shift()
  return fault
}

/** Whether a fault is about what the client is told in the end. */
const isChange = ({ answer, change, reset }: Fault): boolean =>
  change !== undefined && answer === undefined && reset !== true

/**
 * With a page in between, the answer of a login comes from the consent endpoint: changes of it that are scripted for
 * `authorize` wait for a redirect, wherever it comes from.
 */
const faultBefore = (state: State, endpoint: Endpoint): Fault | undefined =>
  take(state, endpoint, (fault) => endpoint !== "authorize" || !isChange(fault))

const faultAfter = (state: State, endpoint: Endpoint, answer: Answer | undefined): Fault | undefined =>
  (endpoint === "authorize" || endpoint === "consent") && answer?._tag === "Redirect"
    ? take(state, "authorize", isChange)
    : undefined

const changeRedirect = (location: string, change: Readonly<Record<string, unknown>>): string => {
  const url = new URL(location)
  for (const [name, value] of Object.entries(change)) {
    url.searchParams.delete(name)
    if (value !== undefined) url.searchParams.append(name, String(value))
  }
  return url.href
}

const changed = (answer: Answer, { change, headers = {}, status = answer.status }: Fault): Answer => {
  const common = { status, headers: { ...answer.headers, ...headers } }
  if (answer._tag === "Json" && change !== undefined) {
    const body = Object.entries({ ...answer.body, ...change }).filter(([, value]) => value !== undefined)
    return Answer.Json({ ...common, body: Object.fromEntries(body) })
  }
  if (answer._tag === "Redirect" && change !== undefined) {
    return Answer.Redirect({ ...common, location: changeRedirect(answer.location, change) })
  }
  return { ...answer, ...common }
}

const form = (body: Readonly<Record<string, unknown>>): string =>
  new URLSearchParams(Object.entries(body).map(([name, value]) => [name, String(value)])).toString()

const scripted = (
  { body, headers = {}, status = 200 }: NonNullable<Fault["answer"]>
): HttpServerResponse.HttpServerResponse => {
  if (body === undefined) return HttpServerResponse.empty({ status, headers })
  if (typeof body !== "string") return toResponse(json(body, status, headers))
  return HttpServerResponse.text(body, { status, headers, contentType: headers["content-type"] ?? "text/plain" })
}

/** Sends the headers at once and the body later. */
const slow = (
  response: HttpServerResponse.HttpServerResponse,
  delay: NonNullable<Fault["slowBody"]>
): HttpServerResponse.HttpServerResponse => {
  const { body, headers, status } = response
  if (body._tag !== "Uint8Array") return response
  const later = Stream.fromEffect(Effect.as(Effect.sleep(delay), body.body))
  return HttpServerResponse.stream(later, { status, headers, contentType: body.contentType })
}

/** Cuts the connection if there is one, else says so to the client in memory. */
const cut = (request: HttpServerRequest.HttpServerRequest): HttpServerResponse.HttpServerResponse => {
  const { source } = request
  if (Predicate.hasProperty(source, "socket") && Predicate.hasProperty(source.socket, "destroy")) {
    const { socket } = source
    if (typeof socket.destroy === "function") socket.destroy()
  }
  return HttpServerResponse.empty({ status: 500, headers: { [cutHeader]: "1" } })
}

const respond = (answer: Answer, fault: Fault): HttpServerResponse.HttpServerResponse => {
  const final = changed(answer, fault)
  if (fault.urlencoded === true && final._tag === "Json") {
    return HttpServerResponse.text(form(final.body), {
      status: final.status,
      headers: final.headers,
      contentType: "application/x-www-form-urlencoded"
    })
  }
  return toResponse(final)
}

/** Serves an endpoint. */
export const serve = (state: State, endpoint: Endpoint, handler: Handler) =>
(
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const incoming = yield* read(request, state.issuer)
    const noted = note(state, endpoint, incoming, now)
    const before = faultBefore(state, endpoint)
    if (before?.delay !== undefined) yield* Effect.sleep(before.delay)
    const lost = before?.reset === true || before?.answer !== undefined
    const answer = lost && before.served !== true
      ? undefined
      : yield* Effect.catch(
        incoming.refused === undefined ? handler(incoming) : Effect.fail(incoming.refused),
        (refused) => Effect.succeed(refusal(refused))
      )
    const after = before === undefined ? faultAfter(state, endpoint, answer) : undefined
    if (after?.delay !== undefined) yield* Effect.sleep(after.delay)
    const fault = before ?? after ?? {}
    if (fault.reset === true) return cut(request)
    const response = fault.answer !== undefined
      ? scripted(fault.answer)
      : answer === undefined
      ? HttpServerResponse.empty()
      : respond(answer, fault)
    noted.status = response.status
    return fault.slowBody === undefined ? response : slow(response, fault.slowBody)
  })
