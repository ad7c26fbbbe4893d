/** Many runs of random moves, each from a seed of its own. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { movesOf, type Play, shrink } from "../../src/faults/moves.ts"

export const seed = Number(process.env["MCPFX_FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31))

/** Fails with the shortest moves that go wrong, where some do. */
export const checkRuns = Effect.fnUntraced(function*(play: Play, setup: object, runs: number, length: number) {
  for (let run = 0; run < runs; run++) {
    const moves = movesOf(seed + run, length)
    const wrong = yield* play(moves)
    if (wrong === undefined) continue
    const least = yield* play(yield* shrink(play, moves))
    assert.fail(`MCPFX_FUZZ_SEED=${seed + run} ${JSON.stringify(setup)}\n${least ?? `not always: ${wrong}`}`)
  }
  console.log(`${runs} runs, ${JSON.stringify(setup)}, MCPFX_FUZZ_SEED=${seed}`)
})
