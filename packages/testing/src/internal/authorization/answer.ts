/** What the endpoints answer, as data, so that faults can change it before it is sent. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Response from "effect/http/HttpServerResponse"

type Headers = Readonly<Record<string, string>>

export type Answer = Data.TaggedEnum<{
  Json: { readonly status: number; readonly headers: Headers; readonly body: Readonly<Record<string, unknown>> }
  Page: { readonly status: number; readonly headers: Headers; readonly html: string }
  Redirect: { readonly status: number; readonly headers: Headers; readonly location: string }
  Empty: { readonly status: number; readonly headers: Headers }
}>
export const Answer = Data.taggedEnum<Answer>()

/** A request that was refused in the words of OAuth. */
export interface Refused {
  readonly status: number
  readonly error: string
  readonly description: string
  readonly headers: Headers
}

export const refuse = (
  error: string,
  description: string,
  status = 400,
  headers: Headers = {}
): Effect.Effect<never, Refused> => Effect.fail({ status, error, description, headers })

const noStore = { "cache-control": "no-store", pragma: "no-cache" }

export const json = (body: Readonly<Record<string, unknown>>, status = 200, headers: Headers = {}): Answer =>
  Answer.Json({ status, headers: { ...noStore, ...headers }, body })

export const refusal = ({ description, error, headers, status }: Refused): Answer =>
  json({ error, error_description: description }, status, headers)

/** `undefined` leaves a parameter out. */
export const redirect = (
  to: string,
  parameters: Readonly<Record<string, string | undefined>>,
  status = 302
): Answer => {
  const [address = to, ...rest] = to.split("#")
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.append(name, value)
  const joined = `${address}${address.includes("?") ? "&" : "?"}${query.toString()}`
  return Answer.Redirect({ status, headers: noStore, location: [joined, ...rest].join("#") })
}

export const toResponse = (answer: Answer): HttpServerResponse.HttpServerResponse => {
  const { headers, status } = answer
  switch (answer._tag) {
    case "Json":
      return Response.text(JSON.stringify(answer.body), { status, headers, contentType: "application/json" })
    case "Page":
      return Response.text(answer.html, { status, headers, contentType: "text/html; charset=utf-8" })
    case "Redirect":
      return Response.empty({ status, headers: { ...headers, location: answer.location } })
    case "Empty":
      return Response.empty({ status, headers })
  }
}
