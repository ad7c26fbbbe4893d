/** Middleware that does nothing, against the same server without it. */
import type { Contender } from "../contenders.ts"
import { type Effort, type Measured, partOf, type Samples } from "../effort.ts"
import * as Messages from "../messages.ts"
import { cpuRounds } from "../rounds.ts"
import { allBut, needsStdio, noBudgets, type Row, verified } from "../row.ts"
import { stdioSubject } from "../subjects/stdio.ts"

const depth = 5
const none = "has no middleware"

const takingPart = allBut(needsStdio, { sdk1: none, sdk2: none, fastmcp: none })

interface Variant {
  readonly contender: Contender
  readonly depth: number
}

const make = ({ contender, depth }: Variant) =>
  stdioSubject(contender, { template: Messages.add("2025-11-25"), window: 64, depth })

/** Those of a variant, by contender. */
const ofVariant = <A>(all: ReadonlyMap<Variant, A>, depth: number): ReadonlyMap<Contender, A> =>
  new Map(
    Array.from(all).flatMap(([variant, value]) => variant.depth === depth ? [[variant.contender, value] as const] : [])
  )

const measure = async (effort: Effort): Promise<Measured<Contender>> => {
  const variants = partOf(takingPart.contenders, effort)
    .flatMap((contender): ReadonlyArray<Variant> => [{ contender, depth: 0 }, { contender, depth }])
  const { failures, samples } = await cpuRounds(variants, effort, make)
  const bases: Samples<Contender> = ofVariant(samples, 0)
  return {
    samples: ofVariant(samples, depth),
    bases,
    failures: new Map([...ofVariant(failures, 0), ...ofVariant(failures, depth)])
  }
}

export const middlewareRows: ReadonlyArray<Row> = [
  {
    id: "middleware",
    title: "middleware of depth 5, against depth 0, stdio, 64 in flight",
    unit: "ms/1000",
    ...takingPart,
    against: "itself",
    budgets: noBudgets,
    measure,
    verify: (contender) => verified(make({ contender, depth }))
  }
]
