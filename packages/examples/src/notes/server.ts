/** The notes server: registrations that need a {@link NoteStore}. */
import { McpError } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Progress } from "@mcpfx/session"
import { Effect, Layer } from "effect"
import { Delete, Index, Note, Search, Summarize, Write } from "./contract.ts"
import { NoteStore } from "./store.ts"

const uriOf = (name: string) => `notes://note/${name}`

const WriteLive = McpServer.tool(Write, ({ name, text }) =>
  Effect.gen(function*() {
    const store = yield* NoteStore
    const isNew = yield* Effect.orDie(store.write(name, text))
    if (isNew) yield* McpServer.resourceUpdated(Index.uri)
    yield* McpServer.resourceUpdated(uriOf(name))
    yield* Effect.logInfo(`wrote ${name}`)
    return { uri: uriOf(name), bytes: new TextEncoder().encode(text).length }
  }))

const DeleteLive = McpServer.tool(Delete, ({ name }) =>
  Effect.gen(function*() {
    const store = yield* NoteStore
    yield* Effect.catchTag(store.remove(name), "PlatformError", Effect.die)
    yield* McpServer.resourceUpdated(Index.uri)
    return `deleted ${name}`
  }))

const SearchLive = McpServer.tool(Search, ({ text }) =>
  Effect.gen(function*() {
    const store = yield* NoteStore
    const names = yield* store.names
    const found: Array<{ readonly name: string; readonly line: string }> = []
    for (const [index, name] of names.entries()) {
      const note = yield* store.read(name)
      for (const line of note.split("\n")) if (line.includes(text)) found.push({ name, line })
      yield* Progress.report({ progress: index + 1, total: names.length, message: name })
    }
    return { found }
  }).pipe(Effect.orDie))

const IndexLive = McpServer.resource(Index, Effect.orDie(Effect.flatMap(NoteStore, (store) => store.names)))

const completeName = (typed: string) =>
  Effect.flatMap(NoteStore, (store) => Effect.orDie(store.names)).pipe(
    Effect.map((names) => names.filter((name) => name.startsWith(typed)))
  )

const NoteLive = McpServer.template(
  Note,
  ({ name }, uri) =>
    Effect.flatMap(NoteStore, (store) => store.read(name)).pipe(
      Effect.catchTags({
        NoteMissing: () => Effect.fail(new McpError.ResourceNotFound({ uri })),
        PlatformError: Effect.die
      })
    ),
  { complete: { name: completeName } }
)

const SummarizeLive = McpServer.prompt(
  Summarize,
  ({ note, style = "one short paragraph" }) =>
    Effect.flatMap(NoteStore, (store) => store.read(note)).pipe(
      Effect.map((text) => `Summarize this note as ${style}:\n\n${text}`),
      Effect.catchTags({
        NoteMissing: (error) => Effect.fail(new McpError.InvalidParams({ detail: error.message })),
        PlatformError: Effect.die
      })
    ),
  { complete: { note: completeName } }
)

/** Everything the server offers. */
export const Notes = Layer.mergeAll(WriteLive, DeleteLive, SearchLive, IndexLive, NoteLive, SummarizeLive)

/** How the server calls itself. */
export const info = {
  name: "notes",
  version: "1.0.0",
  instructions: "Keeps notes as files. Read notes://index for what there is."
}
