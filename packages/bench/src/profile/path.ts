/** A hot path: what a message goes through, piece by piece, and the whole of it. */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Version } from "../messages.ts"
import type { Parts } from "./fixture.ts"
import type { Probe } from "./probe.ts"

export interface Step {
  readonly name: string
  readonly probe: Probe
  /** Steps that are part of the probe and stand in lines of their own: what they cost is taken off. */
  readonly less: ReadonlyArray<Step>
}

export interface Path {
  readonly id: string
  readonly title: string
  /** What the whole begins and ends with. */
  readonly reach: string
  /** In the order in which a message meets them; none is part of another. */
  readonly steps: ReadonlyArray<Step>
  readonly whole: Probe
  /** Throws where the path does not answer as it should. */
  readonly verify: () => Promise<void>
}

/** Makes a path ready to be measured; what it takes goes with the scope. */
export type Making = Effect.Effect<Path, unknown, Scope.Scope>

/** The path of a call on one revision. */
export type PathOfCall = (id: string, title: string, version: Version, parts: Parts) => Making

export const step = (name: string, probe: Probe, less: ReadonlyArray<Step> = []): Step => ({ name, probe, less })

/** Throws unless a text has a part in it. */
export const expectIn = (text: string | undefined, part: string): void => {
  if (text?.includes(part) !== true) throw new Error(`no ${part} in ${text?.slice(0, 400) ?? "nothing"}`)
}
