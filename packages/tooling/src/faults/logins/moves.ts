/** What happens in a run. Each move says what it is, and gives what went wrong. */
import { AuthorizationFault } from "@mcpfx/testing"
import { Effect } from "effect"
import type { Scope } from "effect"
import { chooser, type Move, pick } from "../moves.ts"
import { faults, tokenFaults } from "./answers.ts"
import type { Bench } from "./bench.ts"
import { ask, type Life } from "./life.ts"
import { elsewhere, type Mood } from "./provider.ts"

export interface Made {
  readonly text: string
  readonly run: Effect.Effect<string | undefined | void, never, Scope.Scope>
}

type Make = (bench: Bench, move: Move) => Made | undefined

/** Another number that follows from one. */
const next = (number: number): number => (number * 997) % 1

const lifeOf = ({ lives }: Bench, { which }: Move): Life | undefined => pick(lives, which)

/** A burst of requests may cost one login, and one for each kind of scopes, each of them once more after a refresh in vain. */
const allow = ({ limits, setup }: Bench, requests: number, kinds: number): void => {
  const logins = 2 + 3 * kinds
  limits.visits += logins
  // Machines have logins only; who is asked may be registered with another address at the second try.
  limits.token += 2 * logins + 2
  limits.register += setup.who === "machine" ? 0 : 2 * logins
  limits.resource += requests * 10
}

const request = (bench: Bench, life: Life, number: number, needs: string | undefined) => {
  const method = number < 0.3 ? "GET" as const : "POST" as const
  return Effect.map(
    ask(life, `${method}${needs === undefined ? "" : ` for ${needs}`}`, life.request(method, needs)),
    (asked) => bench.add(asked)
  )
}

const burst = (most: number): Make => (bench, move) => {
  const life = lifeOf(bench, move)
  if (life === undefined) return undefined
  const count = 1 + Math.floor(next(move.how) * most)
  const mixed = next(move.which) < 0.2
  allow(bench, count, mixed ? 2 : 0)
  return {
    text: `${life.name}: ${count} requests${mixed ? " with more scopes" : ""}`,
    run: Effect.gen(function*() {
      let number = move.how
      for (let n = 0; n < count; n++) {
        number = next(number + 0.1)
        const needs = !mixed || number < 0.5 ? undefined : number < 0.8 ? "write" : number < 0.9 ? "more" : "admin"
        yield* request(bench, life, next(number), needs)
      }
    })
  }
}

/** All of them at once, often when the token has just ended, so that they want the same at once. */
const together: Make = (bench, { how, which }) => {
  const count = 1 + Math.floor(how * 3)
  const late = which < 0.6
  for (const _ of bench.lives) allow(bench, count, 0)
  const all = Effect.forEach(bench.lives, (life) =>
    Effect.forEach(
      Array.from({ length: count }, (_, n) => next(how + n / 7)),
      (number) => request(bench, life, number, undefined)
    ), { discard: true })
  return {
    text: `all: ${count} requests${late ? " after 11 minutes" : ""}`,
    run: Effect.gen(function*() {
      return (late ? yield* bench.pass("11 minutes") : undefined) ?? (yield* all)
    })
  }
}

const stray: Make = (bench, move) => {
  const life = lifeOf(bench, move)
  return life === undefined ? undefined : {
    text: `${life.name}: a request to another server`,
    run: Effect.map(ask(life, "elsewhere", life.request("GET", undefined, elsewhere)), (asked) => bench.add(asked))
  }
}

/** In the middle: of a request, or of a login that it waits for. */
const interrupt: Make = (bench, { how }) => {
  const { open } = bench
  if (open.length === 0) return undefined
  const chosen = how < 0.3 ? open : open.filter((_, index) => next(how + index / 7) < 0.5)
  return { text: `${chosen.length} of ${open.length} are interrupted`, run: bench.interrupt(chosen) }
}

const login: Make = (bench, move) => {
  const life = lifeOf(bench, move)
  if (life === undefined) return undefined
  const scopes = move.how < 0.7 ? [] : move.how < 0.9 ? ["write"] : ["admin"]
  bench.limits.visits += 2
  bench.limits.token += 2
  bench.limits.register += 4
  bench.limits.resource += 2
  return {
    text: `${life.name}: login ${scopes.join(" ")}`,
    run: Effect.map(ask(life, "login", Effect.as(life.oauth.login(scopes), undefined)), (asked) => bench.add(asked))
  }
}

const logout: Make = (bench, move) => {
  const life = lifeOf(bench, move)
  return life === undefined ? undefined : {
    text: `${life.name}: logout`,
    run: Effect.map(ask(life, "logout", Effect.as(life.oauth.logout, undefined)), (asked) => bench.add(asked))
  }
}

/** With nobody else about, nothing is kept after it. */
const logoutAlone: Make = (bench, move) => {
  const life = lifeOf(bench, move)
  if (life === undefined || bench.open.length > 0) return undefined
  return {
    text: `${life.name}: logout alone`,
    run: Effect.gen(function*() {
      const status = yield* bench.status(life)
      const asked = yield* ask(life, "logout", Effect.as(life.oauth.logout, undefined))
      bench.add(asked)
      const wrong = yield* bench.quiet
      if (wrong !== undefined) return wrong
      const exit = asked.fiber.pollUnsafe()
      if (exit?._tag !== "Success") return undefined
      const after = yield* bench.status(life)
      if (after._tag === "LoggedIn") return `${life.name} is logged in after its logout`
      if (status._tag !== "LoggedIn" || bench.provider.store.tokens(status.issuer) === undefined) return undefined
      return `tokens of ${status.issuer} are kept after a logout`
    })
  }
}

/** Requests for which a token is refreshed, and which are given up while it is. */
const leave: Make = (bench, move) => {
  const life = lifeOf(bench, move)
  if (life === undefined) return undefined
  const answers: ReadonlyArray<AuthorizationFault.Fault> = [
    {},
    AuthorizationFault.status(503),
    AuthorizationFault.oauth("invalid_grant")
  ]
  const fault: AuthorizationFault.Fault = { ...pick(answers, move.how), delay: "3 seconds" }
  allow(bench, 2, 0)
  return {
    text: `${life.name}: requests after 11 minutes, given up: ${JSON.stringify(fault)}`,
    run: Effect.gen(function*() {
      const wrong = yield* bench.pass("11 minutes")
      if (wrong !== undefined) return wrong
      yield* bench.provider.login.fault("token", fault)
      yield* request(bench, life, move.how, undefined)
      yield* request(bench, life, next(move.how), undefined)
      const early = yield* bench.pass("1 second")
      if (early !== undefined) return early
      yield* bench.interrupt(bench.open)
      return (yield* bench.pass("10 seconds", "10 seconds")) ?? (yield* bench.rest)
    })
  }
}

/** The process ends, in the middle of whatever it does, and another takes its place. */
const restart: Make = (bench, move) => {
  const life = lifeOf(bench, move)
  if (life === undefined) return undefined
  return {
    text: `${life.name} ends, another begins`,
    run: Effect.gen(function*() {
      bench.add(yield* ask(life, "close", Effect.as(life.close, undefined)))
      if (move.how < 0.5) {
        bench.limits.resource += 1
        yield* request(bench, life, move.how, undefined)
      }
      yield* bench.start(bench.lives.indexOf(life))
    })
  }
}

const tick: Make = (bench, { how }) => {
  const seconds = 1 + Math.floor(how * 40)
  return { text: `${seconds} seconds pass`, run: bench.pass(`${seconds} seconds`) }
}

/** Around the end of a token, and past it. */
const jump: Make = (bench, { how }) => {
  const minutes = how < 0.3 ? 9 : how < 0.6 ? 11 : how < 0.9 ? 61 : 25 * 60
  const half = `${minutes / 2} minutes` as const
  return { text: `${minutes} minutes pass`, run: bench.pass(half, half) }
}

const expire: Make = (bench, { which }) => ({
  text: "tokens end before their time",
  run: pick(bench.provider.logins, which)?.expireTokens ?? Effect.void
})

const revoke: Make = ({ provider }, { which }) => {
  const login = pick(provider.logins, which)
  return login === undefined ? undefined : {
    text: `${login.issuer} ends all logins`,
    run: Effect.flatMap(
      clientsOf(login),
      (ids) => Effect.forEach(ids, (clientId) => login.revoke({ clientId }), { discard: true })
    )
  }
}

const rotate: Make = ({ provider: { login } }, { how }) => ({
  text: `${login.issuer} has new keys${how < 0.5 ? ", and takes the old ones away" : ""}`,
  run: login.rotateKeys({ keep: how >= 0.5 })
})

type Login = Bench["provider"]["login"]

/** The clients that asked for tokens. */
const clientsOf = (login: Login): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(login.requests, (requests) => {
    const ids = requests.filter(({ endpoint }) => endpoint === "token").flatMap(({ clientId }) => clientId ?? [])
    return [...new Set(ids)]
  })

const forget: Make = ({ provider, setup }, { which }) => {
  const login = pick(provider.logins, which)
  return login === undefined || setup.who === "machine" ? undefined : {
    text: `${login.issuer} forgets its clients`,
    run: Effect.flatMap(clientsOf(login), (ids) => Effect.forEach(ids, login.forget, { discard: true }))
  }
}

const move: Make = ({ provider }) => ({
  text: "the server moves to another authorization server",
  run: Effect.sync(() => void (provider.current = 1 - provider.current))
})

const moods: ReadonlyArray<Mood> = ["allows", "allows", "allows slowly", "denies", "never answers"]

const feel: Make = ({ provider }, { how }) => {
  const mood = pick(moods, how) ?? "allows"
  return { text: `the person ${mood}`, run: Effect.sync(() => void (provider.mood = mood)) }
}

const store: Make = ({ provider: { store } }, { how }) => {
  const change = how < 0.3
    ? { failsToRead: false, failsToWrite: false, delay: 0 }
    : how < 0.5
    ? { failsToRead: true }
    : how < 0.7
    ? { failsToWrite: true }
    : { delay: 300 }
  return { text: `the store: ${JSON.stringify(change)}`, run: Effect.sync(() => void Object.assign(store, change)) }
}

const fail: Make = ({ provider }, { how, which }) => {
  const login = provider.login
  const endpoint =
    pick(["token", "token", "token", "metadata", "register", "introspect", "revoke", "consent"] as const, which) ??
      "token"
  const index = Math.floor(next(how) * 100)
  const wrongIss: AuthorizationFault.Fault = { change: { iss: "https://evil.test" } }
  const choice = endpoint === "consent" ? [wrongIss] : endpoint === "token" ? tokenFaults : faults
  const fault = choice[index % choice.length] ?? wrongIss
  const times = how < 0.7 ? 1 : 3
  return {
    text: `${login.issuer} ${endpoint}: ${JSON.stringify(fault).slice(0, 80)} ${times} times`,
    run: login.fault(endpoint, { times, ...fault })
  }
}

const heal: Make = ({ provider }) => ({
  text: "all is well again",
  run: Effect.andThen(
    Effect.forEach(provider.logins, ({ clearFaults }) => clearFaults, { discard: true }),
    Effect.sync(() => {
      provider.mood = "allows"
      Object.assign(provider.store, { failsToRead: false, failsToWrite: false, delay: 0 })
    })
  )
})

export const healed = (bench: Bench): Made["run"] => heal(bench, { kind: 0, which: 0, how: 0 })?.run ?? Effect.void

const weighted: ReadonlyArray<readonly [weight: number, make: Make]> = [
  [10, burst(4)],
  [4, burst(20)],
  [5, together],
  [1, stray],
  [3, interrupt],
  [2, leave],
  [2, login],
  [1.5, logout],
  [1.5, logoutAlone],
  [2, restart],
  [5, tick],
  [5, jump],
  [2, expire],
  [1.5, revoke],
  [1, forget],
  [1, rotate],
  [1, move],
  [3, feel],
  [2, store],
  [6, fail],
  [1, heal]
]

const makeOf = chooser(weighted, tick)

/** Kinds that do not apply give way to requests. */
export const make = (bench: Bench, move: Move): Made | undefined =>
  makeOf(move.kind)(bench, move) ?? burst(4)(bench, move)
