/** Runs of clients that log in: whatever happens, requests end, secrets stay where they belong, and all goes well in the end. */
import { Cause, Effect, References } from "effect"
import { type Move, watched } from "../moves.ts"
import { type Bench, setUp, until } from "./bench.ts"
import { ask, type Life, type Setup } from "./life.ts"
import { healed, make } from "./moves.ts"

export type { Setup }

/** How often a client may need to try before all is well again: it learns that it was forgotten, and that the server moved. */
const tries = 5

/** One more thing that is asked, and the end of it. */
const finish = Effect.fnUntraced(function*(
  bench: Bench,
  life: Life,
  what: string,
  effect: Effect.Effect<number | undefined, unknown>
) {
  Object.assign(bench.limits, {
    visits: bench.limits.visits + 2,
    token: bench.limits.token + 4,
    register: bench.limits.register + 4,
    resource: bench.limits.resource + 10
  })
  const asked = yield* ask(life, what, effect)
  bench.add(asked)
  const wrong = yield* bench.quiet
  const exit = asked.fiber.pollUnsafe()
  const failure = exit?._tag === "Failure" ? Cause.pretty(exit.cause).split("\n", 1).join("") : ""
  return { wrong, status: exit?._tag === "Success" ? exit.value ?? 200 : 0, failure }
})

/** Requests go well again, if somebody logs in where it takes that. */
const recover = Effect.fnUntraced(function*(bench: Bench, life: Life): Effect.fn.Return<string | undefined> {
  const failures: Array<string> = []
  for (let n = 0; n < tries; n++) {
    const request = yield* finish(bench, life, "a request at the end", life.request("POST"))
    if (request.wrong !== undefined) return request.wrong
    if (request.status === 200) return undefined
    const wrong = yield* bench.pass("1 minute", "1 minute")
    if (wrong !== undefined) return wrong
    const login = yield* finish(bench, life, "a login at the end", Effect.as(life.oauth.login(), undefined))
    if (login.wrong !== undefined) return login.wrong
    failures.push(`request ${request.status} ${request.failure}, login ${login.failure}`)
  }
  const { _tag } = yield* bench.status(life)
  return `${life.name} does not recover: ${_tag}\n${failures.join("\n")}`
})

const firstOf = Effect.fnUntraced(function*(
  lives: ReadonlyArray<Life>,
  look: (life: Life) => Effect.Effect<string | undefined>
) {
  for (const life of lives) {
    const wrong = yield* look(life)
    if (wrong !== undefined) return wrong
  }
  return undefined
})

/** After all of it. */
const end = Effect.fnUntraced(function*(bench: Bench) {
  const { lives, provider } = bench
  yield* healed(bench)
  const ended = (yield* bench.quiet) ?? (yield* bench.pass("1 minute", "1 minute"))
  if (ended !== undefined) return ended
  const rested = yield* bench.rest
  if (rested !== undefined) return rested
  // Twice, for one may end what another has.
  const wrong = (yield* firstOf([...lives, ...lives], (life) => recover(bench, life))) ??
    (yield* bench.pass("1 minute"))
  if (wrong !== undefined) return wrong
  const kept = provider.store.tokens(provider.login.issuer)
  const shown = lives.map(({ name }) => provider.watch.shown.get(name))
  if (kept === undefined || !shown.includes(kept)) return "the store does not have what requests carry"
  return yield* firstOf(
    lives,
    (life) =>
      Effect.map(
        life.oauth.status,
        ({ _tag }) => _tag === "LoggedIn" ? undefined : `${life.name} says ${_tag} and is served`
      )
  )
})

const live = Effect.fnUntraced(function*(setup: Setup, moves: ReadonlyArray<Move>, done: Array<string>) {
  const bench = yield* setUp(setup)
  for (const move of moves) {
    const made = make(bench, move)
    if (made === undefined) continue
    done.push(made.text)
    const wrong = (yield* made.run) ?? (yield* bench.settle)
    if (wrong !== undefined) return wrong
  }
  done.push("the end")
  return yield* end(bench)
})

/** Makes the moves; gives what went wrong, and after which of them, or nothing. */
export const play = (setup: Setup, moves: ReadonlyArray<Move>): Effect.Effect<string | undefined> =>
  // Each fault is one that is warned of.
  Effect.provideService(watched((done) => live(setup, moves, done), until), References.MinimumLogLevel, "None")
