/** Says what is odd about a server, each thing once: lists are read again and again. */
import * as Effect from "effect/Effect"

export type Oddities = (text: string) => Effect.Effect<void>

/** After this many things nothing more is said. */
const limit = 1000

export const make = (): Oddities => {
  const said = new Set<string>()
  return (text) =>
    Effect.suspend(() => {
      if (said.size >= limit || said.has(text)) return Effect.void
      said.add(text)
      return Effect.logWarning(text)
    })
}
