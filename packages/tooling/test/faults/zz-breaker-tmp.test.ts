import { it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { FuzzedProcess, shrink } from "../../src/faults/fuzzStdio.ts"
import * as Server from "../../src/faults/httpServer.ts"
import { spoil } from "../../src/faults/mutate.ts"
import { Random } from "../../src/faults/random.ts"
import { record } from "../../src/faults/record.ts"
import { registrations } from "../../src/faults/registrations.ts"
it.live("x", () => Effect.gen(function*() {
  const context = yield* Layer.build(Server.layer(registrations()))
  const port = yield* Effect.provideContext(Server.port, context)
  const all: Array<ReadonlyArray<string>> = []
  for (const v of ["2025-03-26", "2025-06-18", "2026-07-28"] as const) all.push((yield* record(port, v)).map(({body}) => body).filter((b) => b !== ""))
  yield* Effect.promise(async () => {
    const random = new Random(1030186706)
    const server = await FuzzedProcess.start()
    const end = Date.now() + 60000
    let n = 0
    while (Date.now() < end) {
      n++
      const spoilt = spoil(random.pick(all) ?? [], random)
      await server.round(spoilt)
      server.clear()
      const left = await server.left()
      if (left.inFlight !== 0) {
        const least = await shrink(spoilt, async (lines) => { const s = await FuzzedProcess.start(); await s.round(lines); s.clear(); const l = await s.left(); await s.stop(); return l.inFlight !== 0 })
        console.log(n, left.inFlight, least.map((l) => JSON.stringify(new TextDecoder().decode(l).slice(0, 1500))).join("\n"))
        break
      }
    }
    console.log(n)
    await server.stop()
  })
}), 120000)
