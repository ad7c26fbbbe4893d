/** The modules of `effect/ai`, on both ends. */
import { Revisions } from "@mcpfx/schema"
import { connect } from "../../src/interop/effectAiClient.ts"
import { faultsAreKnown } from "./support/cell.ts"
import { clientCell } from "./support/clientCells.ts"
import { clientChecks } from "./support/clientChecks.ts"
import { serveHttp } from "./support/server.ts"
import { serverCell } from "./support/serverCells.ts"
import { foundServer, serverChecks } from "./support/serverChecks.ts"

const client = "interop-effectai-client"
const server = "interop-effectai-server"

const ours = serveHttp("mcpfxServer")
const theirs = serveHttp("effectAiServer")

for (const transport of ["stdio", "http"] as const) {
  // The client has two revisions, no progress, no completion, no logs and no subscriptions.
  for (const revision of ["2025-11-25", "2026-07-28"]) {
    clientCell({
      suite: client,
      connect,
      revision,
      told: revision,
      only: false,
      transport,
      http: ours,
      sessions: false,
      checks: clientChecks("basic")
    })
  }
  const common = { suite: server, program: "effectAiServer", transport, http: theirs, checks: serverChecks } as const
  for (const { version: revision } of Revisions.all) serverCell({ ...common, revision, told: true, only: false })
  // It finds the era of a server that speaks nothing else.
  for (const { version: revision } of Revisions.all) {
    serverCell({ ...common, revision, told: false, only: true, checks: foundServer })
  }
  serverCell({ ...common, revision: "2026-07-28", told: false, only: false })
}

faultsAreKnown(client, server)
