/** One thing goes wrong in each run, at each place there is: everything ends, the server serves on, and nothing is left. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { kinds } from "../../src/faults/points/faultPoints.ts"
import { atPoint, atStep, type Fault, force } from "../../src/faults/points/force.ts"
import { scenarios } from "../../src/faults/points/scenarios.ts"

/** Every step of a caller is tried where this is 1; otherwise each so many-th. */
const stride = Number(process.env["MCPFX_FAULT_STRIDE"] ?? 11)
const most = 2000

for (const scenario of scenarios) {
  describe(`${scenario.name}`, () => {
    for (const transport of scenario.transports) {
      for (const version of scenario.versions) {
        const every = Effect.fnUntraced(function*(fault: (n: number) => Fault, what: string, step: number) {
          const wrong: Array<string> = []
          let n = 1
          for (; n < most; n += step) {
            const outcome = yield* force(scenario, transport, version, fault(n))
            if (outcome.wrong !== undefined) wrong.push(`${what} at ${n} (${outcome.hit}): ${outcome.wrong}`)
            if (outcome.hit === undefined) break
          }
          if (wrong.length > 0) assert.fail(wrong.join("\n"))
          assert.isAbove(n, 1, "nothing was tried")
        })

        it.live(
          `whatever is waited for, over ${transport} on ${version}`,
          () => Effect.forEach(kinds, (kind) => every((n) => atPoint(kind, n), kind, 1)),
          180_000
        )

        it.live(
          `whenever the caller gives up, over ${transport} on ${version}`,
          () => every(atStep, "interrupted", stride),
          180_000
        )
      }
    }
  })
}
