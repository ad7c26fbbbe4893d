/**
 * The main job, from end to end: the notes server over standard input and output and over HTTP, driven by the client on the
 * oldest revision, a middle one and the newest, with what goes over the wire; then a tool that asks its user, on a revision
 * with sessions and on the one without. `--serve` keeps the HTTP server up instead.
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { McpClient } from "@mcpfx/client"
import type { Revision } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Memory, StdioClient, StreamableHttpClient } from "@mcpfx/transport"
import { Console, Effect, FileSystem, Layer } from "effect"
import { FetchHttpClient, HttpServer } from "effect/http"
import { fileURLToPath } from "node:url"
import { ask, user } from "./demo/ask.ts"
import { drive } from "./demo/drive.ts"
import { tapped, whole } from "./demo/wire.ts"
import { Releases } from "./interactive/releases.ts"
import * as Interactive from "./interactive/server.ts"
import * as NotesHttp from "./notes/http.ts"

const print = (line: string) => console.log(line)

const stdioProgram = fileURLToPath(new URL("./notes/stdio.ts", import.meta.url))

const overStdio = (folder: string) => StdioClient.layer({ command: [process.execPath, stdioProgram, folder] })

const overHttp = (url: string) => Layer.provide(StreamableHttpClient.layer({ url }), FetchHttpClient.layer)

/** The address of the server in the context. */
const serverUrl = Effect.map(
  HttpServer.HttpServer,
  ({ address }) => address._tag !== "UnixPathAddress" ? `http://127.0.0.1:${address.port}/mcp` : ""
)

const title = (text: string) => Console.log(`\n${"─".repeat(4)} ${text} ${"─".repeat(Math.max(0, 100 - text.length))}`)

const main = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "notes-" })
  const client = (version: Revision.Version) =>
    McpClient.layer({ revisions: [version], info: { name: "demo", version: "1.0.0" } })

  for (const version of ["2024-11-05", "2025-06-18", "2026-07-28"] as const) {
    yield* title(`${version} over standard input and output`)
    yield* drive(`note-${version}-stdio`, print).pipe(
      Effect.provide(
        client(version).pipe(Layer.provide(tapped(print)), Layer.provide(overStdio(folder)))
      )
    )
  }

  const serving = Effect.gen(function*() {
    const url = yield* serverUrl
    for (const version of ["2025-03-26", "2025-06-18", "2026-07-28"] as const) {
      yield* title(`${version} over HTTP at ${url}`)
      yield* drive(`note-${version}-http`, print).pipe(
        Effect.provide(client(version).pipe(Layer.provide(tapped(print)), Layer.provide(overHttp(url))))
      )
    }
  })
  yield* Effect.provide(serving, NotesHttp.layer({ folder, port: 0 }))

  for (const version of ["2025-11-25", "2026-07-28"] as const) {
    yield* title(`${version}: a tool asks its user`)
    const server = Layer.provide(McpServer.layer(Interactive.Registrations, Interactive.info), Releases.layer)
    yield* ask(print).pipe(
      Effect.provide(
        client(version).pipe(
          Layer.provide(user(print)),
          Layer.provide(tapped(print, whole)),
          Layer.provide(Layer.provide(Memory.layer, server))
        )
      )
    )
  }
  yield* Console.log("\nSix tours of one server and two of another, each written once: all as they should be.")
}).pipe(Effect.scoped)

const serve = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "notes-" })
  const up = Effect.gen(function*() {
    const url = yield* serverUrl
    yield* Console.log(`The notes server is at ${url}; its files are in ${folder}. Stop it with Ctrl-C.`)
    yield* Console.log(`Try: npx @modelcontextprotocol/inspector --cli ${url} --transport http --method tools/list`)
    return yield* Effect.never
  })
  return yield* Effect.provide(up, NotesHttp.layer({ folder, port: 3000 }))
}).pipe(Effect.scoped)

NodeRuntime.runMain(Effect.provide(process.argv.includes("--serve") ? serve : main, NodeServices.layer))
