import * as Duration from "effect/Duration"

/** The time that an option says, or the usual one, in milliseconds. */
export const millis = (said: Duration.Input | undefined, usual: Duration.Input): number =>
  Duration.toMillis(Duration.fromInputUnsafe(said ?? usual))
