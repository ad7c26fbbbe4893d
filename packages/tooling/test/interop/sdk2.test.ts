/** Version 2 of the TypeScript SDK, on both ends. */
import { Revisions } from "@mcpfx/schema"
import { connect } from "../../src/interop/sdk2Client.ts"
import { faultsAreKnown } from "./support/cell.ts"
import { clientCell } from "./support/clientCells.ts"
import { clientChecks, found } from "./support/clientChecks.ts"
import { serveHttp } from "./support/server.ts"
import { serverCell } from "./support/serverCells.ts"
import { askChecks, serverChecks } from "./support/serverChecks.ts"

const client = "interop-sdk2-client"
const server = "interop-sdk2-server"
const newest = "2026-07-28"

const ours = serveHttp("mcpfxServer")
/** Clients that find the revision by themselves find it behind the listener. */
const listener = serveHttp("mcpfxServer", "--listener")
const theirs = serveHttp("sdk2Server")

for (const transport of ["stdio", "http"] as const) {
  for (const { version: revision } of Revisions.all) {
    const common = { suite: client, connect, revision, transport, http: ours, sessions: true }
    clientCell({ ...common, told: revision, only: false, checks: clientChecks("all") })
    // It probes a server that speaks nothing else.
    clientCell({ ...common, http: listener, told: undefined, only: true, checks: found, sessions: false })
    serverCell({
      suite: server,
      program: "sdk2Server",
      revision,
      told: true,
      only: false,
      transport,
      http: theirs,
      checks: [...serverChecks, ...askChecks]
    })
  }
  clientCell({
    suite: client,
    connect,
    revision: newest,
    told: undefined,
    only: false,
    transport,
    http: listener,
    sessions: true,
    checks: clientChecks("all")
  })
  serverCell({
    suite: server,
    program: "sdk2Server",
    revision: newest,
    told: false,
    only: false,
    transport,
    http: theirs,
    checks: [...serverChecks, ...askChecks]
  })
}

faultsAreKnown(client, server)
