/** How many calls of one tool, or one method, run at the same time. */
import { InvalidContract } from "@mcpfx/schema/InvalidContract"
import type * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Semaphore from "effect/Semaphore"

export type Gate = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Lets everything through, or as many as may run while the others wait in their own fibers. */
export const makeGate = (name: string, concurrency: number | undefined, kind: "tool" | "method" = "tool"): Gate => {
  if (concurrency === undefined) return identity
  if (Number.isInteger(concurrency) && concurrency > 0) return Semaphore.makeUnsafe(concurrency).withPermit
  throw new InvalidContract({ kind, name, reason: "concurrency must be a positive integer" })
}
