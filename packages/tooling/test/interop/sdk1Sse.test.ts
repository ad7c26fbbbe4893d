/** Version 1 of the TypeScript SDK over HTTP+SSE, on both ends: old peers speak newer revisions over it too. */
import { connect } from "../../src/interop/sdk1Client.ts"
import { faultsAreKnown } from "./support/cell.ts"
import { clientCell } from "./support/clientCells.ts"
import { clientChecks } from "./support/clientChecks.ts"
import { serveHttp } from "./support/server.ts"
import { serverCell } from "./support/serverCells.ts"
import { askChecks, serverChecks } from "./support/serverChecks.ts"

const client = "interop-sdk1-sse-client"
const server = "interop-sdk1-sse-server"
const revisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const

const ours = serveHttp("mcpfxServer")
const theirs = serveHttp("sdk1Server")

const clients = {
  suite: client,
  connect,
  transport: "http",
  sse: true,
  http: ours,
  sessions: false,
  checks: clientChecks("all")
} as const
// The client always offers its newest revision: it is the server that has one alone, or all.
for (const revision of revisions) clientCell({ ...clients, revision, told: revision, only: true })
clientCell({ ...clients, revision: "2025-11-25", told: undefined, only: false })

const servers = {
  suite: server,
  program: "sdk1Server",
  transport: "http",
  sse: true,
  http: theirs,
  only: false,
  checks: [...serverChecks, ...askChecks]
} as const
for (const revision of revisions) serverCell({ ...servers, revision, told: true })
serverCell({ ...servers, revision: "2025-11-25", told: false })

faultsAreKnown(client, server)
