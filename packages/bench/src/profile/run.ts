/** Has the parts of the profile measured, one after the other. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { families, type Family } from "./checks.ts"
import { type Parts, parts } from "./fixture.ts"
import { type Cost, type Effort, measure } from "./measure.ts"
import type { Path, Step } from "./path.ts"
import { clientPaths } from "./paths/client.ts"
import { httpPaths } from "./paths/http.ts"
import { otherPaths } from "./paths/others.ts"
import { stdioPaths } from "./paths/stdio.ts"
import { partsOf, type Report, reportOf } from "./rows.ts"
import type { Checked } from "./text.ts"

type Making<A> = Effect.Effect<A, unknown, Scope.Scope>

export const paths = (all: Parts): ReadonlyArray<Making<Path>> => [
  ...stdioPaths(all),
  ...httpPaths(all),
  ...otherPaths(all),
  ...clientPaths()
]

const last = (costs: ReadonlyArray<Cost>, back: number): Cost =>
  costs.at(-back) ?? { nanos: Number.NaN, bytes: Number.NaN }

const look = async (path: Path, effort: Effort): Promise<Report> => {
  await path.verify()
  const steps = partsOf(path.steps)
  const costs = await measure([...steps.map(({ probe }) => probe), path.whole, path.whole], effort)
  const known = new Map<Step, Cost>()
  for (const [index, step] of steps.entries()) known.set(step, costs[index] ?? last(costs, 1))
  return reportOf(path, known, last(costs, 2), last(costs, 1))
}

/** The ids of all paths, which are known when each was made. */
export const pathIds: Effect.Effect<ReadonlyArray<string>, unknown> = Effect.scoped(
  Effect.flatMap(
    parts,
    (all) => Effect.forEach(paths(all), (making) => Effect.scoped(Effect.map(making, ({ id }) => id)))
  )
)

/** Every path whose id `wanted` takes, each with endpoints of its own that end with it. */
export const reports = (
  effort: Effort,
  wanted: (id: string) => boolean,
  tell: (report: Report) => void
): Effect.Effect<ReadonlyArray<Report>, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const all = yield* parts
    const found: Array<Report> = []
    for (const making of paths(all)) {
      const report = yield* Effect.scoped(Effect.gen(function*() {
        const path = yield* making
        return wanted(path.id) ? yield* Effect.promise(() => look(path, effort)) : undefined
      }))
      if (report === undefined) continue
      tell(report)
      found.push(report)
    }
    return found
  })

const compare = async ({ base, title, variants }: Family, effort: Effort): Promise<Checked> => {
  for (const { verify } of [base, ...variants]) await verify()
  const costs = await measure([base, base, ...variants].map(({ probe }) => probe), effort)
  const [first = last(costs, 1), second = first, ...others] = costs
  const nanos = Math.min(first.nanos, second.nanos)
  const bytes = Math.min(first.bytes, second.bytes)
  return {
    title,
    base: { name: base.name, nanos, bytes },
    noise: Math.abs(first.nanos - second.nanos),
    paid: variants.map(({ name, when }, index) => {
      const cost = others[index] ?? last(costs, 1)
      return { name, when, nanos: cost.nanos - nanos, bytes: cost.bytes - bytes }
    })
  }
}

/** What is paid when, for each transport. */
export const checks = (effort: Effort): Effect.Effect<ReadonlyArray<Checked>, unknown> =>
  Effect.forEach(
    families,
    (making) => Effect.scoped(Effect.flatMap(making, (family) => Effect.promise(() => compare(family, effort))))
  )
