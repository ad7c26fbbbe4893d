/** What a run has: clients, what was asked of them, and how much of everything may have been asked for it. */
import type { LoginStatus } from "@mcpfx/auth"
import { Clock, Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { type Asked, faultOf, type Life, type Setup, start } from "./life.ts"
import { make, type Provider } from "./provider.ts"

/** Lets everything that can go on go on; takes no time of any clock. */
const turn: Effect.Effect<void> = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

/** Lets the world go on until it is so, or for three seconds: other threads have work, too. */
export const until = Effect.fnUntraced(function*(so: () => boolean) {
  const end = performance.now() + 3000
  while (!so() && performance.now() < end) yield* turn
})

/** Digests and signatures are made by other threads, one after the other: when this one is done, so are those before it. */
const digest: Effect.Effect<unknown> = Effect.promise(() => crypto.subtle.digest("SHA-256", new Uint8Array(1)))

const turns = Effect.repeat(Effect.andThen(digest, Effect.repeat(turn, { times: 2 })), { times: 3 })

/** The longest that anything may take: somebody is asked in vain a few times, and requests are too late a few times. */
const patience = Duration.toMillis("40 minutes")

/** What may have been asked for at the most. */
export interface Limits {
  visits: number
  token: number
  register: number
  resource: number
}

export class Bench {
  readonly setup: Setup
  readonly provider: Provider
  readonly lives: Array<Life>
  readonly limits: Limits = { visits: 0, token: 0, register: 0, resource: 0 }
  private asked: ReadonlyArray<Asked> = []
  private born = 0

  constructor(setup: Setup, provider: Provider) {
    this.setup = setup
    this.provider = provider
    this.lives = []
  }

  /** What is under way. */
  get open(): ReadonlyArray<Asked> {
    return this.asked
  }

  add(asked: Asked): void {
    this.asked = [...this.asked, asked]
  }

  start(index: number) {
    return Effect.map(start(this.setup, this.provider, `client ${++this.born}`), (life) => {
      this.lives[index] = life
      return life
    })
  }

  /** Lets things happen, and says what of it must not. */
  get settle(): Effect.Effect<string | undefined> {
    return Effect.gen({ self: this }, function*() {
      yield* turns
      const now = yield* Clock.currentTimeMillis
      const { asked, limits, provider: { visits, watch } } = this
      this.asked = asked.filter(({ fiber }) => fiber.pollUnsafe() === undefined)
      const isLate = ({ fiber, since }: Asked) => now - since > patience && fiber.pollUnsafe() === undefined
      if (this.asked.some(isLate)) yield* until(() => !this.asked.some(isLate))
      const late = this.asked.find(isLate)
      const over = [
        ["visits", visits, limits.visits],
        ["token requests", watch.count("token"), limits.token],
        ["registrations", watch.count("register"), limits.register],
        ["requests", watch.count("resource"), limits.resource]
      ] as const
      const much = over.find(([, found, most]) => found > most)
      return asked.map(faultOf).find((fault) => fault !== undefined) ??
        watch.wrong[0] ??
        (late === undefined ? undefined : `${late.what} does not end`) ??
        (much === undefined ? undefined : `${much[1]} ${much[0]} where ${much[2]} are enough`)
    })
  }

  /** Time passes, in steps, so that what follows from other things is not late. */
  pass(...steps: ReadonlyArray<Duration.Input>): Effect.Effect<string | undefined> {
    return Effect.gen({ self: this }, function*() {
      for (const step of steps) {
        yield* TestClock.adjust(step)
        const wrong = yield* this.settle
        if (wrong !== undefined) return wrong
      }
      return undefined
    })
  }

  /** How a client stands; the store may take its time. */
  status(life: Life): Effect.Effect<LoginStatus.LoginStatus> {
    return Effect.gen({ self: this }, function*() {
      const fiber = yield* Effect.forkDetach(life.oauth.status)
      for (let tries = 0; tries < 3 && fiber.pollUnsafe() === undefined; tries++) yield* this.pass("1 second")
      return yield* Fiber.join(fiber)
    })
  }

  /** Where nothing is under way, nothing is said to be. */
  get rest(): Effect.Effect<string | undefined> {
    return Effect.gen({ self: this }, function*() {
      for (const life of this.asked.length === 0 ? this.lives : []) {
        const { _tag } = yield* this.status(life)
        if (_tag === "Refreshing" || _tag === "LoggingIn") return `${life.name} says ${_tag} and does nothing`
      }
      return undefined
    })
  }

  /** Lets time pass until everything has ended. */
  get quiet(): Effect.Effect<string | undefined> {
    return Effect.gen({ self: this }, function*() {
      for (let step = 0; this.asked.length > 0; step++) {
        const wrong = yield* this.pass(steps[Math.min(step, steps.length - 1)] ?? "1 minute")
        if (wrong !== undefined) return wrong
      }
      return undefined
    })
  }

  interrupt(chosen: ReadonlyArray<Asked>): Effect.Effect<void> {
    return Effect.forEach(chosen, ({ fiber }) => Effect.forkDetach(Fiber.interrupt(fiber)), { discard: true })
  }
}

const steps: ReadonlyArray<Duration.Input> = ["100 millis", "1 second", "10 seconds", "20 seconds", "1 minute"]

export const setUp = (setup: Setup) =>
  Effect.gen(function*() {
    const bench = new Bench(setup, yield* make(setup.tokens))
    for (let index = 0; index < setup.processes; index++) yield* bench.start(index)
    return bench
  })
