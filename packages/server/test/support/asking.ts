/** Plays a client that is asked, on any revision: the same answers, whichever way the questions come. */
import type { McpEndpoint } from "@mcpfx/server/McpEndpoint"
import { Cause, Effect, Logger } from "effect"
import { at, Client, type HttpFacts, type Json, type Sent, type Version, Wire } from "../protocol/harness.ts"

/** What a client is asked. */
export interface Request {
  readonly method: string
  readonly params: unknown
  /** The key of a round; `undefined` for a request of its own. */
  readonly key: string | undefined
}

/** Gives the result of what is asked, or `undefined` for no answer. */
export type Answer = (request: Request) => Json | undefined

export interface Options {
  readonly capabilities?: Json
  readonly method?: string
  readonly http?: HttpFacts
  readonly meta?: Json
  /** Rounds before the client gives up. */
  readonly limit?: number
}

/** How a request went. */
export interface Played {
  readonly sent: Sent
  readonly all: ReadonlyArray<Sent>
  readonly asked: ReadonlyArray<Request>
  /** The text of a tool's answer. */
  readonly text: unknown
  readonly isError: boolean
}

export const everything: Json = { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {} }

export const accept = (content: Json): Answer => () => ({ action: "accept", content })

/** Lets everything that is not asleep run. */
export const settle = Effect.promise(() => new Promise<void>((resolve) => setTimeout(resolve, 5)))

const outcome = (all: ReadonlyArray<Sent>, asked: ReadonlyArray<Request>): Played => {
  const sent = all[all.length - 1]
  if (sent === undefined) throw new Error("nothing was sent")
  return {
    sent,
    all,
    asked,
    text: at(sent.result, "content", 0, "text"),
    isError: at(sent.result, "isError") === true
  }
}

const inRounds = Effect.fnUntraced(
  function*(client: Client, method: string, params: Json, answer: Answer, options: Options) {
    const all: Array<Sent> = []
    const asked: Array<Request> = []
    const _meta = { ...options.meta, "io.modelcontextprotocol/clientCapabilities": options.capabilities ?? everything }
    let round: Json = {}
    for (;;) {
      const sent = yield* client.request(method, { ...params, ...round, _meta })
      all.push(sent)
      const requests = at(sent.result, "inputRequests")
      if (at(sent.result, "resultType") !== "input_required" || all.length >= (options.limit ?? 40)) {
        return outcome(all, asked)
      }
      const inputResponses: Record<string, Json> = {}
      for (const [key, request] of Object.entries(requests ?? {})) {
        const one = { method: String(at(request, "method")), params: at(request, "params"), key }
        asked.push(one)
        const given = answer(one)
        if (given !== undefined) inputResponses[key] = given
      }
      round = { inputResponses, requestState: at(sent.result, "requestState") }
    }
  }
)

const byRequests = Effect.fnUntraced(function*(client: Client, method: string, params: Json, answer: Answer) {
  const asked: Array<Request> = []
  const sent = client.start(method, params)
  let seen = 0
  while (!sent.closed) {
    const message = sent.pushed[seen]
    if (message === undefined) {
      yield* settle
      continue
    }
    seen += 1
    if (message["id"] === undefined) continue
    const one = { method: String(message["method"]), params: message["params"], key: undefined }
    asked.push(one)
    const result = answer(one)
    if (result !== undefined) client.raw({ jsonrpc: "2.0", id: message["id"], result })
  }
  return outcome([sent], asked)
})

/** Calls a tool, or another method with its params, and answers until it is over. */
export const play = (
  endpoint: McpEndpoint["Service"],
  version: Version,
  name: string,
  answer: Answer,
  options: Options = {}
): Effect.Effect<Played> => {
  const client = new Client(endpoint, version, options.http === undefined ? new Wire() : undefined, options.http)
  client.hello(options.capabilities ?? everything)
  const method = options.method ?? "tools/call"
  const params = method === "resources/read" ? { uri: name } : { name }
  return client.modern ? inRounds(client, method, params, answer, options) : byRequests(client, method, params, answer)
}

/** Runs with a logger of its own, and gives what was logged beside the value. */
export const logged = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const lines: Array<string> = []
    const logger = Logger.make<unknown, void>(({ cause, message }) =>
      void lines.push(`${String(message)} ${Cause.pretty(cause)}`)
    )
    return Effect.map(
      Effect.provide(Effect.tap(effect, () => settle), Logger.layer([logger])),
      (value) => ({ value, text: lines.join("\n") })
    )
  })
