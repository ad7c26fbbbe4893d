/** What a client sent while it logged in, and what it heard: the proof of what happened. */
import { Wire } from "../wire.ts"

/** One request with its answer. */
export interface Exchange {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  /** The parameters of a form; empty where the body is none. */
  readonly form: URLSearchParams
  readonly body: string
  readonly status: number
  readonly received: Headers
  /** The body of a JSON answer. */
  readonly answer: unknown
}

/** Exchanges in the order of their answers, and a `fetch` that adds to them. */
export interface Record {
  readonly exchanges: Array<Exchange>
  readonly fetch: typeof fetch
  /** The requests to a path, such as `/token`. */
  readonly to: (path: string) => ReadonlyArray<Exchange>
  /** The forms sent with a grant type. */
  readonly grants: (type: string) => ReadonlyArray<URLSearchParams>
  /** The token that the last request to a path carried. */
  readonly tokenAt: (path: string) => string
}

const textOf = (body: RequestInit["body"]): string => {
  if (typeof body === "string") return body
  if (body instanceof URLSearchParams) return body.toString()
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : ""
}

const answerOf = async (response: Response): Promise<unknown> => {
  if (response.headers.get("content-type")?.includes("json") !== true) return undefined
  const text = await response.clone().text()
  return text === "" ? undefined : JSON.parse(text)
}

/** Errors hold no secrets, and are the proof of a refusal. */
const errorIn = (answer: unknown): string =>
  typeof answer === "object" && answer !== null && "error" in answer ? ` ${JSON.stringify(answer)}` : ""

/** A record that begins empty, and a line on the wire for each exchange, without secrets. */
export const record = (wire: Wire = new Wire()): Record => {
  const exchanges: Array<Exchange> = []
  const to = (path: string): ReadonlyArray<Exchange> => exchanges.filter(({ url }) => url.pathname === path)
  return {
    exchanges,
    fetch: async (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input)
      const method = init?.method ?? "GET"
      const headers = new Headers(init?.headers)
      const body = textOf(init?.body)
      const isForm = init?.body instanceof URLSearchParams ||
        headers.get("content-type")?.includes("form-urlencoded") === true
      const form = new URLSearchParams(isForm ? body : "")
      const response = await fetch(input, init)
      const { headers: received, status } = response
      const answer = await answerOf(response)
      exchanges.push({ method, url, headers, form, body, status, received, answer })
      wire.sent(`${method} ${url.pathname} ${form.get("grant_type") ?? ""}`.trimEnd())
      wire.received(`${status}${errorIn(answer)}`)
      return response
    },
    to,
    grants: (type) => exchanges.map(({ form }) => form).filter((form) => form.get("grant_type") === type),
    tokenAt: (path) => to(path).at(-1)?.headers.get("authorization")?.split(" ")[1] ?? ""
  }
}
