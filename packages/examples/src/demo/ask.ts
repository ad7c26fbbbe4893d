/** One question that a tool asks the user while it runs: the same tool and the same call, whatever passes over the wire. */
import { ClientElicitation, McpClient } from "@mcpfx/client"
import { Effect } from "effect"
import { Deploy } from "../interactive/contract.ts"

/** The user of the demo. */
export const user = (print: (line: string) => void) =>
  ClientElicitation.layerForm(({ message }) =>
    Effect.sync(() => {
      print(`= the user is asked "${message}" and picks the test environment`)
      return ClientElicitation.accept({ env: "test" })
    })
  )

/** Fails when something is not as it should be. */
export const ask = Effect.fnUntraced(function*(print: (line: string) => void) {
  const client = yield* McpClient.McpClient
  const { revision } = yield* client.server
  print(`= connected on ${revision.version}`)
  const { env, version } = yield* client.call(Deploy, { service: "shop" })
  if (env !== "test" || version !== "1.1") return yield* Effect.die(`deployed ${version} to ${env}`)
  print(`= deployed ${version} to ${env}`)
})
