/** A call over HTTP, on either era, answered in JSON or as an event stream. */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Methods from "@mcpfx/schema/Methods"
import * as Revisions from "@mcpfx/schema/Revisions"
import * as Classify from "@mcpfx/transport/Classify"
import type { Endpoint } from "@mcpfx/transport/Endpoint"
import * as Guard from "@mcpfx/transport/Guard"
import * as Limits from "@mcpfx/transport/Limits"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Headers from "effect/http/Headers"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Messages from "../../messages.ts"
import { callSteps, type Incoming, must, parseSteps, sinkhole } from "../callSteps.ts"
import { endpointOf, type Parts, registrations } from "../fixture.ts"
import { type Caller, headersOf, makeCaller, openSession, requestOf, requests } from "../httpCalls.ts"
import {
  Budget,
  factsOf,
  KeepAlive,
  media,
  plainEvents,
  readBody,
  Reply,
  type ReplyOptions,
  unreadableId,
  WatchedOutbox,
  withEra
} from "../internals.ts"
import { expectIn, type Making, type PathOfCall, type Step, step } from "../path.ts"
import { each } from "../probe.ts"
import { requestOf as messageOf } from "./stdio.ts"

const utf8 = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true })

/** A request of one kind, and where its client stands. */
interface Asked {
  readonly caller: Caller
  readonly template: Messages.Template
  /** As Node has them. */
  readonly headers: Record<string, string>
  readonly session: string | undefined
}

const opened = Effect.fnUntraced(function*(endpoint: Endpoint["Service"], template: Messages.Template) {
  const caller = yield* makeCaller(endpoint)
  const session = template.version === "2025-11-25" ? yield* Effect.promise(() => openSession(caller)) : undefined
  const asked: Asked = { caller, template, headers: headersOf(template, session), session }
  return asked
})

const replyOptions = Effect.fnUntraced(function*(modern: boolean) {
  const limits = yield* Limits.Limits
  const keepAlive = new KeepAlive(yield* Effect.context<never>(), limits.keepAlive)
  const outbox = {
    messages: limits.outgoingMessages,
    size: limits.outgoingBytes,
    keepAlive,
    deadReader: limits.deadReader
  }
  const options: ReplyOptions = {
    settings: { outbox, maxBytes: limits.httpMessageOut, streamAfter: limits.streamAfter },
    accepts: { json: true, stream: true },
    resumable: undefined,
    modern,
    batch: false,
    open: new Set()
  }
  return options
})

/** From Effect's request to a message with its facts. */
const receiving = (asked: Asked, fiber: Fiber.Fiber<unknown, unknown>, limits: Limits.Limits) => {
  const { caller, headers, template } = asked
  const known = Headers.fromInput(headers)
  const body = utf8.encode(template.body(12345))
  const text = template.body(12345)
  const message = messageOf(text)
  const { request } = requestOf(known, body)
  const guard = Guard.make()
  const classifier = Classify.make(Revisions.all.map(({ version }) => version))
  const settings = {
    maxBytes: limits.httpBodyIn,
    budget: new Budget(limits.bufferedBodies),
    timeout: "60 seconds"
  } as const
  const facts = factsOf(request, fiber)
  const classified = classifier.message(message, known)
  if (classified._tag === "Rejected") throw new Error(JSON.stringify(classified))
  const run = Effect.runForkWith(caller.context)
  const steps: ReadonlyArray<Step> = [
    step("guard: Host and Origin", each(() => guard.check(known["host"], known["origin"]))),
    step(
      "media types",
      each(() => media.isJson(known["content-type"]) && media.parseAccept(known["accept"]))
    ),
    step("facts of the request", each(() => [unreadableId(known), factsOf(request, fiber)])),
    step(
      "body read from its events, bounded (its fiber with it)",
      each(() => {
        const { request, source } = requestOf(known, body)
        run(readBody(request, fiber, settings, (bytes) => bytes.length))
        source.emit()
      }),
      [step("", each(() => requestOf(known, body)))]
    ),
    step("UTF-8 checked", each(() => decoder.decode(body))),
    ...parseSteps(text, limits.depth),
    step(
      template.version === "2026-07-28" ? "classified: era, version, mirrored headers" : "classified: era, version",
      each(() => classifier.message(message, known))
    ),
    step("facts with the era", each(() => withEra(facts, classified)))
  ]
  return { facts: withEra(facts, classified), message, steps }
}

/** A request of one kind at an endpoint of its own, what is done to receive it, and how it is answered. */
const prepared = Effect.fnUntraced(function*(template: Messages.Template, parts: Parts) {
  const endpoint = yield* endpointOf(registrations)
  const asked = yield* opened(endpoint, template)
  const fiber = yield* Effect.withFiber((fiber) => Effect.succeed(fiber))
  const { facts, message, steps } = receiving(asked, fiber, yield* Limits.Limits)
  const incoming: Incoming = { parts, message, revision: must(Revisions.byVersion(template.version)), facts }
  const options = yield* replyOptions(template.version === "2026-07-28")
  return { asked, endpoint, incoming, options, steps }
})

const answer = { content: [{ type: "text", text: "12346" }] }

const jsonPath: PathOfCall = (id, title, version, parts) =>
  Effect.gen(function*() {
    const { asked, endpoint, incoming, options, steps } = yield* prepared(Messages.add(version), parts)
    const { facts } = incoming
    const ping = JsonRpc.request(1, Methods.Ping.name)
    const door = version === "2026-07-28" ? [] : [
      step(
        "door, session looked up, its state (as for a ping)",
        each(() => endpoint.handle({ message: ping, facts, outlet: sinkhole }))
      )
    ]
    const made = step("reply and its slot", each(() => new Reply(options).slot()))
    const success = JsonRpc.success(12345, answer)
    const text = JsonRpc.stringify(success)
    const written = step(
      "answer made and JSON.stringify, size checked",
      each(() => new Reply(options).slot().answer(success)),
      [made]
    )
    return {
      id,
      title,
      reach: "from Effect's request, its head read, to Effect's response, in one process",
      steps: [
        ...steps,
        made,
        ...door,
        ...callSteps(incoming),
        written,
        step("response made", each(() => HttpServerResponse.text(text, { status: 200, contentType: media.json })))
      ],
      whole: requests(asked.caller, Headers.fromInput(asked.headers), asked.template.body),
      verify: async () => {
        const { text } = await asked.caller.call(asked.headers, asked.template.body(7))
        expectIn(text, "\"text\":\"8\"")
      }
    }
  })

const streamPath: PathOfCall = (id, title, version, parts) =>
  Effect.gen(function*() {
    const template = Messages.progress(version)
    const { asked, incoming, options, steps } = yield* prepared(template, parts)
    const codec = incoming.revision.notification(Methods.Progress)
    const params = { progressToken: 12345, progress: 1, total: 3 }
    const note = JsonRpc.notification(Methods.Progress.name, params)
    const text = JsonRpc.stringify(note)
    const event = plainEvents.encode(text)
    return {
      id,
      title,
      reach: "from Effect's request, its head read, to the last byte of the stream, read as it comes, in one process",
      steps: [
        ...steps,
        step("reply and its slot", each(() => new Reply(options).slot())),
        ...callSteps(incoming).filter(({ name }) => !name.startsWith("arguments")),
        step("3 events: params encoded", each(() => [1, 2, 3].map(() => codec?.encodeParams(params)))),
        step("3 events: message made and JSON.stringify", each(() => [1, 2, 3].map(() => JsonRpc.stringify(note)))),
        step("4 events: text of the event", each(() => [1, 2, 3, 4].map(() => plainEvents.encode(text)))),
        step(
          "outbox: 4 events in, joined, UTF-8, out",
          each(() => {
            const outbox = new WatchedOutbox(options.settings.outbox, () => {})
            for (let i = 0; i < 4; i++) outbox.add(event)
            return utf8.encode(outbox.drain())
          })
        ),
        step("answer made and JSON.stringify", each((index) => JsonRpc.stringify(JsonRpc.success(index, answer))))
      ],
      whole: requests(asked.caller, Headers.fromInput(asked.headers), template.body, true),
      verify: async () => {
        const { text } = await asked.caller.call(asked.headers, template.body(7))
        for (const part of ["\"progress\":1", "\"progress\":3", "\"text\":\"done\""]) expectIn(text, part)
      }
    }
  })

export const httpPaths = (parts: Parts): ReadonlyArray<Making> => [
  jsonPath("http", "call over HTTP with a session, 2025-11-25, JSON", "2025-11-25", parts),
  jsonPath("http-modern", "call over HTTP, 2026-07-28, JSON", "2026-07-28", parts),
  streamPath("http-sse", "call over HTTP with 3 progress events, 2025-11-25", "2025-11-25", parts),
  streamPath("http-sse-modern", "call over HTTP with 3 progress events, 2026-07-28", "2026-07-28", parts)
]
