/** Versions and deployments, kept in memory: what a real server would have behind it. */
import { Context, Effect, Layer } from "effect"

export class Releases extends Context.Service<Releases, {
  /** Takes the next version: two calls give two. */
  readonly next: Effect.Effect<string>
  /** Deploys once, however often it is asked to under one key. */
  readonly deploy: (version: string, env: string, key: string) => Effect.Effect<void>
  readonly deployed: Effect.Effect<ReadonlyArray<string>>
}>()("interactive/Releases") {
  static readonly layer: Layer.Layer<Releases> = Layer.sync(this, () => {
    let last = 0
    const deployments = new Map<string, string>()
    return {
      next: Effect.sync(() => `1.${++last}`),
      deploy: (version, env, key) => Effect.sync(() => deployments.set(key, `${version} on ${env}`)),
      deployed: Effect.sync(() => [...deployments.values()])
    }
  })
}
