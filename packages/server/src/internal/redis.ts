/** What the stores in Redis have in common. */
import * as Duration from "effect/Duration"

/** What the keys of a store begin with. */
export interface Options {
  readonly prefix?: string | undefined
}

/** A life as Redis takes it: whole milliseconds, one at least. */
export const millis = (life: Duration.Input): string =>
  String(Math.max(Math.ceil(Duration.toMillis(Duration.fromInputUnsafe(life))), 1))

/** A reply that is a text; `undefined` for all others, such as that for a key that is not there. */
export const textOf = (reply: unknown): string | undefined => typeof reply === "string" ? reply : undefined
