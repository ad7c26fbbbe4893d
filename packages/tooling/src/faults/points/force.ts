/** Runs a scenario with one thing going wrong, and says what is not as it has to be afterwards. */
import type { Revision } from "@mcpfx/schema"
import { Effect, Exit, Metric, References, Scheduler, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { Fibers } from "../fibers.ts"
import { turn } from "../machine/world.ts"
import { type Bed, make, type Transport } from "./bed.ts"
import { FaultPoints, type Kind } from "./faultPoints.ts"
import type { Scenario } from "./scenarios.ts"

const turns = Effect.forEach(Array.from({ length: 4 }), () => turn, { discard: true })

/** Moves the clock on, in small steps first, until it is so; half an hour at most. */
const within = Effect.fnUntraced(function*(so: () => boolean) {
  for (const [steps, millis] of [[30, 0], [60, 500], [60, 30_000]] as const) {
    for (let step = 0; step < steps; step++) {
      yield* turns
      if (so()) return true
      if (millis > 0) yield* TestClock.adjust(millis)
    }
  }
  // Other threads have work, too, and know nothing of this clock.
  const end = performance.now() + 5000
  while (!so() && performance.now() < end) yield* turn
  return so()
})

const ended = Effect.fnUntraced(function*(effect: Effect.Effect<unknown, unknown>, scope: Scope.Scope) {
  const fiber = yield* Effect.forkIn(effect, scope, { startImmediately: true })
  yield* within(() => fiber.pollUnsafe() !== undefined)
  return fiber
})

const zero = { inFlight: 0, listening: 0, serving: 0, sessions: 0, streams: 0, timers: 0, waiting: 0, running: [] }

const left = (bed: Bed): string => {
  const { status: _, ...tables } = bed.server.tables()
  return JSON.stringify(Object.fromEntries(Object.keys(zero).map((key) => [key, Reflect.get(tables, key)])))
}

/** What is wrong when all should be over. */
const aftermath = Effect.fnUntraced(function*(bed: Bed, version: Revision.Version, scope: Scope.Scope) {
  bed.points.disarm()
  const fresh = (yield* ended(bed.fresh(version), scope)).pollUnsafe()
  if (fresh === undefined) return "a client that comes afterwards gets no answer"
  if (Exit.isFailure(fresh)) return `a client that comes afterwards fails: ${String(fresh.cause)}`
  // Whatever nobody took back is over by now.
  for (let step = 0; step < 3; step++) {
    yield* TestClock.adjust("35 minutes")
    yield* turns
  }
  return (yield* within(() => left(bed) === JSON.stringify(zero))) ? undefined : `left in the tables: ${left(bed)}`
})

/** How something is made to go wrong. */
export interface Fault {
  readonly arm: (points: FaultPoints) => void
  /** Where it went wrong; `undefined` where the scenario was over before. */
  readonly hit: (points: FaultPoints) => string | undefined
  readonly around: (run: Effect.Effect<unknown, unknown>) => Effect.Effect<unknown, unknown>
}

export const atPoint = (kind: Kind, n: number): Fault => ({
  arm: (points) => points.arm(kind, n),
  hit: (points) => points.hit,
  around: (run) => run
})

/** Interrupts whoever runs the scenario at the n-th step that its fiber makes. */
export const atStep = (n: number): Fault => {
  let hit: string | undefined
  let steps = 0
  return {
    arm: () => {},
    hit: () => hit,
    around: (run) =>
      Effect.withFiber((fiber) => {
        const inner = fiber.getRef(Scheduler.Scheduler)
        const counting: Scheduler.Scheduler = {
          executionMode: inner.executionMode,
          makeDispatcher: () => inner.makeDispatcher(),
          shouldYield: (running) => {
            if (running === fiber && ++steps === n) {
              hit = `step ${n}`
              fiber.interruptUnsafe()
            }
            return inner.shouldYield(running)
          }
        }
        return Effect.provideService(run, Scheduler.Scheduler, counting)
      })
  }
}

export interface Outcome {
  readonly hit: string | undefined
  readonly wrong: string | undefined
}

/** Runs it once. */
export const force = (
  scenario: Scenario,
  transport: Transport,
  version: Revision.Version,
  fault: Fault
): Effect.Effect<Outcome> =>
  Effect.suspend(() => {
    const fibers = new Fibers()
    const points = new FaultPoints()
    return Effect.gen(function*() {
      const before = fibers.alive
      const wrong = yield* Effect.scoped(Effect.gen(function*() {
        const scope = yield* Effect.scope
        const bed = yield* make(points, transport)
        fault.arm(points)
        const fiber = yield* ended(fault.around(scenario.run(bed, version)), scope)
        if (fiber.pollUnsafe() === undefined) {
          fiber.interruptUnsafe()
          yield* within(() => fiber.pollUnsafe() !== undefined)
          return "it does not end"
        }
        const wrong = yield* aftermath(bed, version, scope)
        const closing = yield* ended(bed.server.close, scope)
        if (closing.pollUnsafe() === undefined) return wrong ?? "the server does not close"
        return wrong ?? (bed.running.size === 0 ? undefined : "handlers run on")
      }))
      const done = wrong ??
        ((yield* within(() => fibers.alive <= before)) ? undefined : `${fibers.alive - before} fibers are left`)
      return { hit: fault.hit(points), wrong: done }
    }).pipe(
      Effect.provideService(Metric.FiberRuntimeMetrics, fibers),
      // Failures that are forced would fill the log.
      Effect.provideService(References.MinimumLogLevel, "None"),
      Effect.provide(TestClock.layer())
    )
  })
