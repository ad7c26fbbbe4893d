/** Everything a client does, against the notes server: run `node client.ts` for a tour over standard input and output. */
import { NodeServices } from "@effect/platform-node"
import { McpClient } from "@mcpfx/client"
import { Console, Effect, Stream } from "effect"
import { Delete, Note, Search, Summarize, Write } from "./notes/contract.ts"

/** The tour; it needs nothing but a client. */
export const tour = Effect.gen(function*() {
  const client = yield* McpClient.McpClient
  const { capabilities, info, revision } = yield* client.server
  yield* Console.log(`${info?.name} speaks ${revision.version} and offers ${Object.keys(capabilities).join(", ")}`)

  // Changes come as a stream, on every revision.
  const { changes } = yield* client.subscribe({ uris: ["notes://index"] })

  // Calls by contract are typed on both sides.
  const { bytes, uri } = yield* client.call(Write, { name: "groceries", text: "- apples\n- bread" })
  yield* Console.log(`wrote ${bytes} bytes to ${uri}`)
  yield* Stream.runForEach(Stream.take(changes, 1), (change) => Console.log(`heard of a change: ${change.kind}`))

  // A declared failure of the tool is a typed failure here.
  const missing = yield* Effect.flip(client.call(Delete, { name: "nothing" }))
  yield* Console.log(`${missing._tag}: ${missing.message}`)

  // Calls by name give the whole result.
  const result = yield* client.callTool("search_notes", { text: "bread" })
  yield* Console.log(`found ${JSON.stringify(result.structuredContent ?? result.content)}`)

  // Progress comes while the call runs.
  const { found } = yield* client.call(Search, { text: "apples" }, {
    onProgress: ({ progress, total }) => Console.log(`progress ${progress} of ${total}`)
  })
  yield* Console.log(`found ${found.length} line`)

  // Lists come whole.
  for (const tool of yield* client.tools) yield* Console.log(`tool ${tool.name}`)
  for (const template of yield* client.resourceTemplates) yield* Console.log(`template ${template.uriTemplate}`)
  for (const prompt of yield* client.prompts) yield* Console.log(`prompt ${prompt.name}`)

  const { contents } = yield* client.readResource("notes://note/groceries")
  yield* Console.log(`read ${JSON.stringify(contents)}`)
  const { values } = yield* client.complete({ type: "ref/prompt", name: Summarize.name }, {
    name: "note",
    value: "gro"
  })
  yield* Console.log(`completed to ${values.join(", ")}`)
  const prompt = yield* client.getPrompt(Summarize.name, { note: "groceries" })
  yield* Console.log(`prompt of ${prompt.messages.length} message for ${Note.uriTemplate}`)
})

/** The notes server as a child process, with its files in `folder`. */
export const overStdio = (folder: string) =>
  McpClient.layerStdio({
    command: [process.execPath, new URL("./notes/stdio.ts", import.meta.url).pathname, folder]
  })

if (process.argv[1] === import.meta.filename) {
  const program = Effect.scoped(tour).pipe(
    Effect.provide(overStdio(process.argv[2] ?? "notes")),
    Effect.provide(NodeServices.layer)
  )
  await Effect.runPromise(program)
}
