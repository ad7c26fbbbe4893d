/** A piece of code that can be run so many times; what it costs is measured elsewhere. */

export interface Probe {
  /** Runs it that many times, and is done when that many are over. */
  readonly run: (times: number) => void | Promise<void>
}

/** Where results go, so that nothing is left out as unused and nothing stays on the stack. */
let kept: unknown = undefined

export const keep = (value: unknown): void => {
  kept = value
}

export const lastKept = (): unknown => kept

/** Runs a function again and again; it gets a number that changes. */
export const each = (f: (index: number) => unknown): Probe => ({
  run: (times) => {
    for (let index = 0; index < times; index++) keep(f(index))
  }
})

/** The loop around all the others. */
export const nothing: Probe = each((index) => index)
