/** The print shop. The handlers know tasks as little as they know revisions. */
import { Input, McpServer, Tasks } from "@mcpfx/server"
import { Progress } from "@mcpfx/session"
import { Effect, Layer, Schema } from "effect"
import { Bind, OutOfPaper, Print, Ship } from "./contract.ts"

const sheetsPerCopy = 100
const paper = 1000

const PrintLive = McpServer.tool(Print, ({ copies }) =>
  Effect.gen(function*() {
    const sheets = copies * sheetsPerCopy
    if (sheets > paper) return yield* new OutOfPaper({ missing: sheets - paper })
    for (let copy = 1; copy <= copies; copy++) {
      yield* Effect.sleep("20 millis")
      yield* Progress.report({ progress: copy, total: copies, message: `copy ${copy} of ${copies}` })
    }
    return { sheets }
  }), { task: { ttl: "10 minutes", pollInterval: "100 millis" } })

const BindLive = McpServer.tool(Bind, ({ title }) =>
  Effect.gen(function*() {
    const { colour } = yield* Input.elicit(`Which cover for ${title}?`, Schema.Struct({ colour: Schema.String }))
    yield* Effect.sleep("20 millis")
    return { cover: colour }
  }), { task: { pollInterval: "100 millis", immediateResponse: "The binder has it." } })

const ShipLive = McpServer.tool(Ship, ({ title }) =>
  Effect.gen(function*() {
    const { address } = yield* Input.elicit(`Where to with ${title}?`, Schema.Struct({ address: Schema.String }))
    yield* Tasks.detach
    yield* Effect.sleep("20 millis")
    return { address }
  }), { task: { start: "when-told", pollInterval: "100 millis" } })

export const Shop = Layer.mergeAll(PrintLive, BindLive, ShipLive)

export const info = { name: "print-shop", version: "1.0.0" }
