/**
 * Clients that log in, and all that can happen to them. `MCPFX_FUZZ_RUNS` says how many times as many runs of each kind there
 * are, `MCPFX_FUZZ_SEED` where they begin.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { movesOf, play, type Setup, shrink } from "../../src/faults/logins/run.ts"

const seed = Number(process.env["MCPFX_FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31))
const scale = Number(process.env["MCPFX_FUZZ_RUNS"] ?? 1)

/** Moves of one run. */
const length = 14

const check = Effect.fnUntraced(function*(setup: Setup, runs: number) {
  for (let run = 0; run < runs; run++) {
    const moves = movesOf(seed + run, length)
    const wrong = yield* play(setup, moves)
    if (wrong === undefined) continue
    const least = yield* play(setup, yield* shrink(setup, moves))
    assert.fail(`MCPFX_FUZZ_SEED=${seed + run} ${JSON.stringify(setup)}\n${least ?? `not always: ${wrong}`}`)
  }
  console.log(`${runs} runs, ${JSON.stringify(setup)}, MCPFX_FUZZ_SEED=${seed}`)
})

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
