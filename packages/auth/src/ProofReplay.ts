/**
 * Has each proof of a key be used once (RFC 9449, 11.1).
 *
 * A server remembers the proofs it has seen by itself. Provide this where several share an address, so that a proof is not
 * used once at each.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { VerifierUnavailable } from "./TokenVerifier.ts"

/**
 * **Example** (A proof that comes twice)
 *
 * ```ts
 * import { ProofReplay } from "@mcpfx/auth"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const proofs = yield* ProofReplay.ProofReplay
 *   return [yield* proofs.claim("a proof", "2 minutes"), yield* proofs.claim("a proof", "2 minutes")]
 * })
 * await Effect.runPromise(Effect.provide(program, ProofReplay.layerMemory())) // => [true, false]
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export class ProofReplay extends Context.Service<ProofReplay, {
  /** Whether nobody had claimed the id, a digest; it is remembered for `life`. One of several claims at once gets it. */
  readonly claim: (id: string, life: Duration.Input) => Effect.Effect<boolean, VerifierUnavailable>
}>()("@mcpfx/auth/ProofReplay") {}

/**
 * Remembers proofs in this process, at most `entries` of them (100,000): past it, proofs are refused rather than let through
 * twice.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeMemory = (options?: { readonly entries?: number | undefined }): ProofReplay["Service"] => {
  const limit = options?.entries ?? 100_000
  const table = new Map<string, number>()
  const sweep = (now: number): void => {
    // They come in the order of their end, near enough.
    for (const [id, until] of table) {
      if (until > now) break
      table.delete(id)
    }
  }
  return {
    claim: (id, life) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        sweep(now)
        const until = table.get(id)
        if ((until !== undefined && until > now) || table.size >= limit) return false
        table.set(id, now + Duration.toMillis(Duration.fromInputUnsafe(life)))
        return true
      })
  }
}

/**
 * {@link makeMemory} as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (options?: { readonly entries?: number | undefined }): Layer.Layer<ProofReplay> =>
  Layer.sync(ProofReplay, () => makeMemory(options))
