/** Drives a notes server through everything it offers, and says what came of it. */
import { McpClient } from "@mcpfx/client"
import { Methods } from "@mcpfx/schema"
import { Effect, Stream } from "effect"
import { Delete, Search, Summarize, Write } from "../notes/contract.ts"

const wanted = "bread"

/** One tour on the revision the client was told to speak, with a note of its own; fails when something is not as it should be. */
export const drive = Effect.fnUntraced(function*(note: string, print: (line: string) => void) {
  const client = yield* McpClient.McpClient
  const say = (text: string) => Effect.sync(() => print(`= ${text}`))

  const { info, revision } = yield* client.server
  yield* say(`connected to ${info?.name ?? "a server"} on ${revision.version}`)

  const { changes } = yield* client.subscribe({ uris: ["notes://index"] })
  yield* say("subscribed to the index of the notes")

  const written = yield* client.call(Write, { name: note, text: `- apples\n- ${wanted}` })
  yield* say(`wrote ${written.uri}, ${written.bytes} bytes`)
  const [change] = yield* Effect.timeout(Stream.runCollect(Stream.take(changes, 1)), "10 seconds")
  yield* say(`heard of a change: ${change?.kind === "resource" ? change.uri : change?.kind}`)

  let reports = 0
  const { found } = yield* client.call(Search, { text: wanted }, {
    onProgress: () => Effect.sync(() => reports++)
  })
  if (found.length === 0 || reports === 0) return yield* Effect.die("the search found nothing or reported nothing")
  yield* say(`found ${found.length} lines with "${wanted}", after ${reports} reports of progress`)

  const { contents } = yield* client.readResource(written.uri)
  yield* say(`read ${contents.length} content of ${written.uri}`)

  const { values } = yield* client.complete({ type: "ref/prompt", name: Summarize.name }, {
    name: "note",
    value: "note-"
  })
  yield* say(`completed "note-" to ${values.join(", ")}`)

  const missing = yield* Effect.flip(client.call(Delete, { name: "not-there" }))
  yield* say(`a declared failure came back typed: ${missing._tag}: ${missing.message}`)

  yield* client.notifyRaw(Methods.Cancelled.name, { requestId: "of-nothing" })
  yield* say("done")
}, Effect.scoped)
