/**
 * Clients that log in, and all that can happen to them. `MCPFX_FUZZ_RUNS` says how many times as many runs of each kind there
 * are, `MCPFX_FUZZ_SEED` where they begin.
 */
import { describe, it } from "@effect/vitest"
import { play, type Setup } from "../../src/faults/logins/run.ts"
import { checkRuns, seed } from "./runs.ts"

const scale = Number(process.env["MCPFX_FUZZ_RUNS"] ?? 1)

/** Moves of one run. */
const length = 14

const check = (setup: Setup, runs: number) => checkRuns((moves) => play(setup, moves), setup, runs, length)

const long = 600_000

describe(`logins, MCPFX_FUZZ_SEED=${seed}`, () => {
  it.live(
    "[field AUT-06] [field AUT-10] one process of a person: requests end, no secret strays, all goes well in the end",
    () => check({ who: "person", processes: 1, tokens: "jwt" }, Math.ceil(30 * scale)),
    long
  )

  it.live(
    "[field AUT-07] two processes of a person share a store: no refresh token is spent twice",
    () => check({ who: "person", processes: 2, tokens: "opaque" }, Math.ceil(60 * scale)),
    long
  )

  it.live(
    "nobody is asked but by a login",
    () => check({ who: "person who asks", processes: 2, tokens: "opaque" }, Math.ceil(40 * scale)),
    long
  )

  it.live(
    "machines log in by themselves",
    () => check({ who: "machine", processes: 2, tokens: "opaque" }, Math.ceil(40 * scale)),
    long
  )
})
