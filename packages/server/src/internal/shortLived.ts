/** Keeps many registrations from making requests dear. */
import * as Effect from "effect/Effect"

/** Registrations after which it is time; engines draw no conclusions from fewer than a hundred objects. */
export const afterRegistrations = 32

const ended = Effect.scoped(Effect.addFinalizer(() => Effect.void))

/**
 * Engines watch how long the objects live that are made at one place of a program, and once they seem to live long make
 * them in the old generation of the heap. Each registration makes scopes that stay. After a hundred of them the scope of
 * every request would be made there too, and would keep the request and its answer alive until the old generation is
 * collected, which more than doubles what a request costs. A few hundred scopes that end at once show the engine what most
 * scopes do; it then leaves them alone for good.
 */
export const shortLived: Effect.Effect<void> = Effect.forEach(
  Array.from({ length: 300 }),
  () => ended,
  { discard: true }
)
