/** A program under load: started, greeted, and driven through one kind of work. */
import type { Child } from "./child.ts"
import { cpuOf } from "./system.ts"

/** What a run of a subject was. */
export interface Ran {
  /** What was really done; some work comes in portions. */
  readonly units: number
  /** Milliseconds from request to answer, where that was looked at. */
  readonly latencies: ReadonlyArray<number>
}

export interface Subject {
  /** Does that many and waits for all the answers. */
  readonly run: (count: number) => Promise<Ran>
  /** The same, and reads every answer. */
  readonly verify: (count: number) => Promise<void>
  /** The fewest that make sense to do. */
  readonly least: number
  /** Milliseconds of processor time the program has used. */
  readonly cpu: () => number
  readonly stop: () => Promise<void>
}

/** Requests that make sense to send at the least, where they are small. */
export const fewest = 48

/** What all subjects have in common that are one process. */
export const ofChild = (child: Child): Pick<Subject, "cpu" | "stop"> => ({
  cpu: () => cpuOf(child.pid),
  stop: child.stop
})
