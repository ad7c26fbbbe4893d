/**
 * Random clients, networks and servers against a plain model. `MCPFX_FUZZ_RUNS` says how many runs of each kind there are,
 * `MCPFX_FUZZ_SEED` where they begin.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Setup } from "../../src/faults/machine/model.ts"
import { movesOf, play, shrink } from "../../src/faults/machine/run.ts"

const seed = Number(process.env["MCPFX_FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31))
const scale = Number(process.env["MCPFX_FUZZ_RUNS"] ?? 1)

const check = Effect.fnUntraced(function*(setup: Setup, runs: number, length: number) {
  for (let run = 0; run < runs; run++) {
    const moves = movesOf(seed + run, length)
    const wrong = yield* play(setup, moves)
    if (wrong === undefined) continue
    const least = yield* play(setup, yield* shrink(setup, moves))
    assert.fail(`MCPFX_FUZZ_SEED=${seed + run} ${JSON.stringify(setup)}\n${least ?? `not always: ${wrong}`}`)
  }
  console.log(`${runs} runs, ${JSON.stringify(setup)}, MCPFX_FUZZ_SEED=${seed}`)
})

/** Moves of one run. */
const length = 16

const long = 600_000

describe(`sessions, streams, questions and tasks, MCPFX_FUZZ_SEED=${seed}`, () => {
  it.live(
    "[field MEM-05] [field CON-01] over HTTP they are as the model has them, and nothing is left",
    () => check({ transport: "http", events: false }, 600 * scale, length),
    long
  )

  it.live(
    "[field HTP-32] over HTTP whose streams can be resumed",
    () => check({ transport: "http", events: true }, 700 * scale, length),
    long
  )

  it.live(
    "over connections, both eras on each",
    () => check({ transport: "memory", events: false }, 700 * scale, length),
    long
  )
})
