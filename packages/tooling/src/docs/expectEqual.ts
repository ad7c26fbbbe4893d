import { deepStrictEqual } from "node:assert"

/** Fails unless both are deeply equal; `place` says which line of which document claims it. */
export const expectEqual = (actual: unknown, expected: unknown, place: string): void => {
  try {
    deepStrictEqual(actual, expected)
  } catch (cause) {
    throw new Error(`${place} does not evaluate to what it says`, { cause })
  }
}
