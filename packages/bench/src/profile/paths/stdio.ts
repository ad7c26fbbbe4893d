/** A call over standard streams, on either era. */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Revisions from "@mcpfx/schema/Revisions"
import type { Endpoint } from "@mcpfx/transport/Endpoint"
import type { Facts } from "@mcpfx/transport/Exchange"
import { LineReader } from "@mcpfx/transport/Framing"
import * as Limits from "@mcpfx/transport/Limits"
import type { Link } from "@mcpfx/transport/Link"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Messages from "../../messages.ts"
import { callSteps, decoded, eraStep, type Incoming, must, parseSteps, sinkhole } from "../callSteps.ts"
import { begin, calls, chunkOf } from "../conversation.ts"
import { endpointOf, type Parts, registrations } from "../fixture.ts"
import { RequestOutlet, type Sink, Wire } from "../internals.ts"
import { expectIn, type Making, type PathOfCall, type Step, step } from "../path.ts"
import { each, type Probe } from "../probe.ts"

/** Requests in flight. */
export const window = 64

const link: Link = {
  id: "profile-1",
  send: () => Effect.void,
  closed: Effect.never,
  agreed: () => Effect.void
}

export const lineFacts: Facts = {
  transport: "stdio",
  connection: link,
  sessionId: undefined,
  protocolVersion: undefined,
  headers: undefined,
  principal: Option.none()
}

export const requestOf = (text: string): JsonRpc.Request => {
  const message = decoded(JsonRpc.parse(JSON.parse(text)))
  if (!JsonRpc.isRequest(message)) throw new Error("not a request")
  return message
}

const splitting = (body: (id: number) => string, maxBytes: number): Probe => {
  const chunk = chunkOf(body, window)
  const reader = new LineReader({ maxBytes, onLine: () => {}, onTooLong: () => {}, onInvalid: () => {} })
  return {
    run: (times) => {
      for (let left = times; left > 0; left -= window) reader.push(chunk)
    }
  }
}

/** From bytes to a message, and from the answer to the text that is written. */
export const lineSteps = Effect.fnUntraced(function*(body: (id: number) => string, answer: JsonRpc.Outgoing) {
  const limits = yield* Limits.Limits
  const line = body(12345)
  const still: Endpoint["Service"] = {
    handle: () => Effect.succeed({}),
    admitBatch: () => Effect.void,
    attach: () => Effect.void,
    terminate: () => Effect.void
  }
  const wire = yield* Wire.make({
    transport: "stdio",
    endpoint: still,
    limits,
    maxOut: limits.stdioMessageOut,
    unreadable: "answer"
  })
  const sink: Sink = {
    maxBytes: limits.stdioMessageOut,
    encodeAnswer: () => "",
    writeLine: () => {},
    pushLine: () => Effect.void,
    onClose: () => {}
  }
  const text = JsonRpc.stringify(answer)
  const queued: Probe = {
    run: (times) => {
      for (let left = times; left > 0; left -= window) {
        wire.outbox.cork()
        for (let i = 0; i < window; i++) wire.outbox.offer(text)
        wire.outbox.uncork()
        Effect.runSync(wire.outbox.pull)
      }
    }
  }
  const before: ReadonlyArray<Step> = [
    step("line cut out of the chunk, UTF-8 checked", splitting(body, limits.stdioMessageIn)),
    ...parseSteps(line, limits.depth),
    step("outlet", each((index) => new RequestOutlet(sink, index)))
  ]
  const after: ReadonlyArray<Step> = [
    step("answer made and JSON.stringify, size checked", each((index) => wire.encodeAnswer(answer, index))),
    step("outbox, text joined for one write", queued)
  ]
  return { before, after }
})

/** A ping goes the whole way in and is answered there: door, connection, session. */
const doorStep = Effect.fnUntraced(function*(endpoint: Endpoint["Service"]) {
  const greet = (text: string) =>
    endpoint.handle({ message: decoded(JsonRpc.parse(JSON.parse(text))), facts: lineFacts, outlet: sinkhole })
  yield* greet(Messages.initialize)
  yield* greet(Messages.initialized)
  const message = JsonRpc.request(1, "ping")
  return step(
    "door, connection, session and its state (as for a ping)",
    each(() => endpoint.handle({ message, facts: lineFacts, outlet: sinkhole }))
  )
})

const path: PathOfCall = (id, title, version, parts) =>
  Effect.gen(function*() {
    const template = Messages.add(version)
    const message = requestOf(template.body(12345))
    const revision = must(Revisions.byVersion(version))
    const incoming: Incoming = { parts, message, revision, facts: lineFacts }
    const answer = JsonRpc.success(12345, { content: [{ type: "text", text: "12346" }] })
    const { after, before } = yield* lineSteps(template.body, answer)
    const endpoint = yield* endpointOf(registrations)
    const conversation = yield* begin(endpoint, version)
    const door = version === "2025-11-25" ? [yield* doorStep(yield* endpointOf(registrations))] : [eraStep(incoming)]
    return {
      id,
      title,
      reach: `from the bytes of ${window} lines to the text of as many answers, in one process`,
      steps: [...before, ...door, ...callSteps(incoming), ...after],
      whole: calls(conversation, template.body, window),
      verify: async () => {
        const [text] = await conversation.exchange(template.body(7))
        expectIn(text, "\"text\":\"8\"")
      }
    }
  })

export const stdioPaths = (parts: Parts): ReadonlyArray<Making> => [
  path("stdio", "call over stdio, 2025-11-25", "2025-11-25", parts),
  path("stdio-modern", "call over stdio, 2026-07-28", "2026-07-28", parts)
]
