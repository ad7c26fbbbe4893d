/** A request, read whole: the parameters of its address or form, or the JSON of its body. */
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Result from "effect/Result"
import { refuse, type Refused } from "./answer.ts"

export interface Incoming {
  readonly method: string
  readonly url: URL
  readonly headers: Headers.Headers
  readonly parameters: Parameters
  /** The JSON value of the body; `undefined` where it is none. */
  readonly json: unknown
  /** Why it is not one to be served: its body is too long, or did not come whole. */
  readonly refused: Refused | undefined
}

/** Parameters, none of which may come twice, save those that OAuth lets (RFC 6749, 3.1; RFC 8707, 2). */
export class Parameters {
  readonly entries: ReadonlyArray<readonly [string, string]>

  constructor(search: URLSearchParams) {
    this.entries = [...search]
  }

  /** An empty value is none (RFC 6749, 3.1). */
  get(name: string): string | undefined {
    return this.entries.find(([key, value]) => key === name && value !== "")?.[1]
  }

  all(name: string): ReadonlyArray<string> {
    return this.entries.filter(([key, value]) => key === name && value !== "").map(([, value]) => value)
  }

  /** A name that came twice and may not. */
  get repeated(): string | undefined {
    const names = this.entries.map(([name]) => name).filter((name) => name !== "resource" && name !== "audience")
    return names.find((name, index) => names.indexOf(name) !== index)
  }

  get scopes(): ReadonlyArray<string> {
    return [...new Set(this.get("scope")?.split(" ").filter((scope) => scope !== ""))]
  }
}

const maxBody = ByteSize.kibibytes(64)

/** The request as far as its bytes go. What is no form has no parameters, what is no JSON is no value. */
export const read = (
  request: HttpServerRequest.HttpServerRequest,
  issuer: string
): Effect.Effect<Incoming> =>
  Effect.gen(function*() {
    const { headers, method } = request
    const url = new URL(request.originalUrl, issuer)
    const type = headers["content-type"]?.split(";")[0]?.trim().toLowerCase()
    const text = method === "POST"
      ? yield* Effect.provideService(request.text, HttpIncomingMessage.MaxBodySize, maxBody).pipe(
        Effect.catch(() => refuse("invalid_request", "the body cannot be read")),
        Effect.result
      )
      : Result.succeed("")
    const body = Result.getOrElse(text, () => "")
    const form = type === "application/x-www-form-urlencoded"
    const json = Result.try((): unknown => JSON.parse(body))
    return {
      method,
      url,
      headers,
      parameters: new Parameters(method === "POST" ? new URLSearchParams(form ? body : "") : url.searchParams),
      json: type === "application/json" && Result.isSuccess(json) ? json.success : undefined,
      refused: Result.isFailure(text) ? text.failure : undefined
    }
  })
