/** What is asked besides small calls: lists, resources, calls that wait, and calls that ask. */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import * as Methods from "@mcpfx/schema/Methods"
import * as Revisions from "@mcpfx/schema/Revisions"
import * as Effect from "effect/Effect"
import type * as Messages from "../../messages.ts"
import { contextOf, must } from "../callSteps.ts"
import { begin, calls, type Conversation } from "../conversation.ts"
import { endpointOf, type Parts, registrations, resourceText, Text } from "../fixture.ts"
import { expectIn, type Making, type Step, step } from "../path.ts"
import { each, type Probe } from "../probe.ts"
import { lineFacts, lineSteps, requestOf, window } from "./stdio.ts"

const conversing = Effect.fnUntraced(function*(version: Messages.Version, capabilities: object = {}) {
  return yield* begin(yield* endpointOf(registrations), version, capabilities)
})

const bytesFrom = `from the bytes of ${window} lines to the text of as many answers, in one process`

const listBody = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"tools/list","params":{}}`

/** The answer is text that is kept until something is registered. */
const list = (parts: Parts): Making =>
  Effect.gen(function*() {
    const conversation = yield* conversing("2025-11-25")
    const message = requestOf(listBody(1))
    const context = contextOf({ parts, message, revision: Revisions.newest, facts: lineFacts })()
    const result = yield* parts.dispatcher.request(message, context)
    const answer = JsonRpc.success(1, result)
    const { after, before } = yield* lineSteps(listBody, answer)
    return {
      id: "list",
      title: "tools/list of 103, which is written once",
      reach: bytesFrom,
      steps: [
        ...before,
        step("page found, which is text already", each(() => parts.dispatcher.request(message, context))),
        ...after
      ],
      whole: calls(conversation, listBody, window),
      verify: async () => expectIn((await conversation.exchange(listBody(1)))[0], "search_archive_098")
    }
  })

const readBody = (id: number): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"resources/read","params":{"uri":"${Text.uri}"}}`

const read = (parts: Parts): Making =>
  Effect.gen(function*() {
    const conversation = yield* conversing("2025-11-25")
    const revision = must(Revisions.byVersion("2025-11-25"))
    const codec = must(revision.request(Methods.ResourcesRead))
    const message = requestOf(readBody(1))
    const result = { contents: [{ uri: Text.uri, mimeType: "text/plain", text: resourceText }] }
    const { after, before } = yield* lineSteps(readBody, JsonRpc.success(1, result))
    return {
      id: "read",
      title: "resources/read of 1 KiB, 2025-11-25",
      reach: bytesFrom,
      steps: [
        ...before,
        step("params decoded", each(() => codec.decodeParams(message.params))),
        step("resource looked up", each(() => parts.registry.snapshot().resource(Text.uri))),
        step("result encoded", each(() => codec.encodeResult(result))),
        ...after
      ],
      whole: calls(conversation, readBody, window),
      verify: async () => expectIn((await conversation.exchange(readBody(1)))[0], resourceText)
    }
  })

const sleepBody = (id: number): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"sleep","arguments":{}}}`

/** What a call that does not end at once costs more: a place in the table, a timer, a turn of the loop. */
const sleep = (): Making =>
  Effect.gen(function*() {
    const conversation = yield* conversing("2025-11-25")
    const { after, before } = yield* lineSteps(sleepBody, JsonRpc.success(1, { content: [] }))
    return {
      id: "sleep",
      title: "call that sleeps for a millisecond, 2025-11-25, 512 at a time",
      reach: "from the bytes of 512 lines to the text of as many answers, in one process",
      steps: [...before, ...after],
      whole: calls(conversation, sleepBody, 512),
      verify: async () => expectIn((await conversation.exchange(sleepBody(1)))[0], "slept")
    }
  })

const again = (once: () => Promise<unknown>): Probe => ({
  run: async (times) => {
    for (let i = 0; i < times; i++) await once()
  }
})

const asking = "\"name\":\"confirm\",\"arguments\":{}"

const askOnce = async (conversation: Conversation): Promise<string | undefined> => {
  const [question] = await conversation.exchange(
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${asking}}}`
  )
  const id = /"id":("[^"]*"|\d+)/.exec(question ?? "")?.[1] ?? "0"
  const [answer] = await conversation.exchange(
    `{"jsonrpc":"2.0","id":${id},"result":{"action":"accept","content":{"sure":true}}}`
  )
  return answer
}

const ask = (): Making =>
  Effect.gen(function*() {
    const conversation = yield* conversing("2025-11-25", { elicitation: {} })
    return {
      id: "ask",
      title: "call that asks its user, 2025-11-25: four messages, one at a time",
      reach: "from the bytes of the call to the text of its answer, with the question and its answer between",
      steps: [],
      whole: again(() => askOnce(conversation)),
      verify: async () => expectIn(await askOnce(conversation), "\"text\":\"true\"")
    }
  })

const modernMeta = JSON.stringify({
  [MetaKey.protocolVersion]: "2026-07-28",
  [MetaKey.clientInfo]: { name: "bench", version: "1.0.0" },
  [MetaKey.clientCapabilities]: { elicitation: {} }
})

const firstRound = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${asking},"_meta":${modernMeta}}}`

const roundOnce = async (conversation: Conversation): Promise<string | undefined> => {
  const [question] = await conversation.exchange(firstRound)
  const state = /"requestState":("[^"]*")/.exec(question ?? "")?.[1] ?? "\"\""
  const key = /"inputRequests":\{("[^"]*")/.exec(question ?? "")?.[1] ?? "\"\""
  const [answer] = await conversation.exchange(
    `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{${asking},"requestState":${state},"inputResponses":{${key}:` +
      `{"action":"accept","content":{"sure":true}}},"_meta":${modernMeta}}}`
  )
  return answer
}

const rounds = (): Making =>
  Effect.gen(function*() {
    const conversation = yield* conversing("2026-07-28")
    const steps: ReadonlyArray<Step> = []
    return {
      id: "ask-modern",
      title: "call that asks its user, 2026-07-28: two rounds, one at a time",
      reach: "from the bytes of the first round to the text of the last answer; its state is sealed and opened between",
      steps,
      whole: again(() => roundOnce(conversation)),
      verify: async () => expectIn(await roundOnce(conversation), "\"text\":\"true\"")
    }
  })

export const otherPaths = (parts: Parts): ReadonlyArray<Making> => [
  list(parts),
  read(parts),
  sleep(),
  ask(),
  rounds()
]
