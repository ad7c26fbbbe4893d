/**
 * Random clients, networks and servers against a plain model. `MCPFX_FUZZ_RUNS` says how many runs of each kind there are,
 * `MCPFX_FUZZ_SEED` where they begin.
 */
import { describe, it } from "@effect/vitest"
import type { Setup } from "../../src/faults/machine/model.ts"
import { play } from "../../src/faults/machine/run.ts"
import { checkRuns, seed } from "./runs.ts"

const scale = Number(process.env["MCPFX_FUZZ_RUNS"] ?? 1)

/** Moves of one run. */
const length = 16

const check = (setup: Setup, runs: number) => checkRuns((moves) => play(setup, moves), setup, runs, length)

const long = 600_000

describe(`sessions, streams, questions and tasks, MCPFX_FUZZ_SEED=${seed}`, () => {
  it.live(
    "[field MEM-05] [field CON-01] over HTTP they are as the model has them, and nothing is left",
    () => check({ transport: "http", events: false }, 600 * scale),
    long
  )

  it.live(
    "[field HTP-32] over HTTP whose streams can be resumed",
    () => check({ transport: "http", events: true }, 700 * scale),
    long
  )

  it.live(
    "over connections, both eras on each",
    () => check({ transport: "memory", events: false }, 700 * scale),
    long
  )
})
