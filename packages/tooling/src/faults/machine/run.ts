/** Runs of the machine: the world makes each move of the model, and has to be as the model is after it. */
import { Effect } from "effect"
import { type Move, watched } from "../moves.ts"
import { Model, type Setup } from "./model.ts"
import { make as makeMove } from "./moves/all.ts"
import { make, turn, type World } from "./world.ts"

/** How long the world may take turns before it has to be as the model is, in milliseconds: other threads have work, too. */
const patience = 10_000

/** Takes turns until it is so, or for too long. */
const until = Effect.fnUntraced(function*(so: () => boolean) {
  const end = performance.now() + patience
  do {
    yield* turn
  } while (!so() && performance.now() < end)
})

const different = (what: string, expected: unknown, actual: unknown): string | undefined => {
  const [left, right] = [JSON.stringify(expected), JSON.stringify(actual)]
  return left === right ? undefined : `${what}: expected ${left}, found ${right}`
}

/** The first thing that is not as it has to be. */
const fault = (model: Model, world: World): string | undefined => {
  for (const { ended, messages, name, status } of model.pipes) {
    const seen = world.seen(name)
    const found = { messages: seen.messages, ended: seen.ended, status: seen.status }
    const wrong = different(name, { messages, ended, status }, found)
    if (wrong !== undefined) return wrong
  }
  return different("ids of questions", [], world.names.reused) ??
    different("tables", model.tables(), world.server.tables())
}

const settle = Effect.fnUntraced(function*(model: Model, world: World) {
  yield* until(() => fault(model, world) === undefined)
  // What comes too much comes soon.
  yield* turn
  return fault(model, world)
})

const live = Effect.fnUntraced(function*(setup: Setup, moves: ReadonlyArray<Move>, done: Array<string>) {
  const model = new Model(setup)
  const world = yield* make(setup)
  for (const move of moves) {
    const made = makeMove(model, move)
    if (made === undefined) continue
    done.push(made.text)
    for (const send of made.sends) {
      yield* world.do(send)
      for (let turns = 0; turns < 4; turns++) yield* turn
    }
    const wrong = yield* settle(model, world)
    if (wrong !== undefined) return wrong
  }
  yield* world.close
  yield* until(() => world.bench.running.size === 0)
  const { inFlight, listening, serving, sessions, streams, timers, waiting } = world.server.tables()
  const left = {
    inFlight,
    listening,
    serving,
    sessions,
    streams,
    timers,
    waiting,
    running: world.bench.running.size
  }
  const zero = {
    inFlight: 0,
    listening: 0,
    serving: 0,
    sessions: 0,
    streams: 0,
    timers: 0,
    waiting: 0,
    running: 0
  }
  return different("at the end", zero, left)
})

/** Makes the moves; gives what went wrong, and after which of them, or nothing. */
export const play = (setup: Setup, moves: ReadonlyArray<Move>): Effect.Effect<string | undefined> =>
  watched((done) => live(setup, moves, done), until)
