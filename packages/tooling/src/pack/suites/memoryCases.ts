/** A server and a client of each revision in one process, joined in memory. */
import { McpClient } from "@mcpfx/client"
import { Revisions } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Memory } from "@mcpfx/transport"
import { Layer } from "effect"
import type { Case } from "./cases.ts"
import { clientCases } from "./clientCases.ts"
import { info, make } from "./offers.ts"

/** The memory suite. */
export const memoryCases = (): Array<Case> =>
  Revisions.all.flatMap(({ version }) => {
    const { registrations, waits } = make()
    const layer = McpClient.layer({ revisions: [version] }).pipe(
      Layer.provide(Memory.layer),
      Layer.provide(McpServer.layer(registrations, info))
    )
    return clientCases(`memory, ${version}`, layer, waits)
  })
