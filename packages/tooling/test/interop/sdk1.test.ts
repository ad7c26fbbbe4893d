/** Version 1 of the TypeScript SDK, on both ends. */
import { connect } from "../../src/interop/sdk1Client.ts"
import { faultsAreKnown } from "./support/cell.ts"
import { clientCell } from "./support/clientCells.ts"
import { clientChecks } from "./support/clientChecks.ts"
import { serveHttp } from "./support/server.ts"
import { serverCell } from "./support/serverCells.ts"
import { askChecks, serverChecks } from "./support/serverChecks.ts"

const client = "interop-sdk1-client"
const server = "interop-sdk1-server"
const revisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const
const transports = ["stdio", "http"] as const

const ours = serveHttp("mcpfxServer")
/** Clients that find the revision by themselves find it behind the listener. */
const listener = serveHttp("mcpfxServer", "--listener")
const theirs = serveHttp("sdk1Server")

for (const transport of transports) {
  // The client always offers its newest revision: it is the server that has one alone, or all.
  for (const revision of revisions) {
    const common = { suite: client, connect, revision, told: revision, transport, http: ours, sessions: true }
    clientCell({ ...common, only: true, checks: clientChecks("all") })
  }
  clientCell({
    suite: client,
    connect,
    revision: "2025-11-25",
    told: undefined,
    only: false,
    transport,
    http: listener,
    sessions: true,
    checks: clientChecks("all")
  })

  const common = {
    suite: server,
    program: "sdk1Server",
    transport,
    http: theirs,
    checks: [...serverChecks, ...askChecks]
  } as const
  for (const revision of revisions) serverCell({ ...common, revision, told: true, only: false })
  serverCell({ ...common, revision: "2025-11-25", told: false, only: false })
}

faultsAreKnown(client, server)
