/**
 * Where credentials are kept: a port of four operations on named secrets.
 *
 * Values are opaque texts here; `internal/vault` knows what they hold. A store that more than one process uses makes
 * `exclusive` hold across them all, which is what keeps two processes from spending one refresh token twice.
 *
 * - `layerMemory` forgets with the process
 * - `layerKeyValueStore` keeps in whatever a `KeyValueStore` keeps in; as it is, for one process
 * - `TokenStoreRedis` is for many processes and machines; `TokenStoreFile` and `TokenStoreKeychain` of `@mcpfx/node` are
 *   for the programs of one person
 *
 * **Example** (One store for several users)
 *
 * ```ts
 * import { TokenStore } from "@mcpfx/auth"
 * import { Effect, Option, Redacted } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const store = yield* TokenStore.TokenStore
 *   const ada = TokenStore.prefix(store, "ada/")
 *   yield* ada.set("tokens", Redacted.make("secret"))
 *   return Option.isSome(yield* TokenStore.prefix(store, "bob/").get("tokens"))
 * })
 *
 * Effect.runSync(Effect.provide(program, TokenStore.layerMemory)) // => false
 * ```
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { KeyedLock } from "./internal/keyedLock.ts"

/**
 * The store did not do what it was asked to. The detail says why, never what was to be kept.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenStoreError extends Schema.TaggedError<TokenStoreError>("@mcpfx/auth/TokenStoreError")(
  "TokenStoreError",
  {
    operation: Schema.Literals(["read", "write", "remove", "lock"]),
    detail: Schema.String,
    cause: Schema.optionalKey(Schema.Defect())
  }
) {}

/**
 * @category services
 * @since 0.1.0
 */
export class TokenStore extends Context.Service<TokenStore, {
  /** The value under a key. What is there and cannot be read is an error, not an absence. */
  readonly get: (key: string) => Effect.Effect<Option.Option<Redacted.Redacted<string>>, TokenStoreError>
  /** Succeeds once the value is kept; one that fails leaves the value that was there. */
  readonly set: (key: string, value: Redacted.Redacted<string>) => Effect.Effect<void, TokenStoreError>
  /** Nothing under the key is no error. */
  readonly remove: (key: string) => Effect.Effect<void, TokenStoreError>
  /** Runs an effect while nobody else who shares the store runs one under the same key. The wait is bounded. */
  readonly exclusive: <A, E, R>(
    key: string,
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | TokenStoreError, R>
}>()("@mcpfx/auth/TokenStore") {}

/**
 * Keeps others from a key while an effect runs, as {@link TokenStore} has it. It may not be taken again, under the same
 * key, from within: that waits for itself until it has waited long enough.
 *
 * @category models
 * @since 0.1.0
 */
export type Exclusive = TokenStore["Service"]["exclusive"]

/**
 * How long `exclusive` waits for its turn.
 *
 * @category models
 * @since 0.1.0
 */
export interface WaitOptions {
  /** After this long without a turn it fails with operation `lock`. What runs takes as long as it takes. Default 1 minute. */
  readonly wait?: Duration.Input | undefined
}

/**
 * An `exclusive` for one process: in the order in which they came.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeExclusive = (options?: WaitOptions): Exclusive => {
  const lock = new KeyedLock(
    options?.wait ?? "1 minute",
    () => new TokenStoreError({ operation: "lock", detail: "another use of the same credentials did not end in time" })
  )
  return (key, effect) => lock.run(key, effect)
}

/**
 * A store as one of many users sees it: its keys are its own.
 *
 * @category combinators
 * @since 0.1.0
 */
export const prefix = (self: TokenStore["Service"], prefix: string): TokenStore["Service"] => ({
  get: (key) => self.get(prefix + key),
  set: (key, value) => self.set(prefix + key, value),
  remove: (key) => self.remove(prefix + key),
  exclusive: (key, effect) => self.exclusive(prefix + key, effect)
})

/**
 * A store that forgets with the process.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeMemory: Effect.Effect<TokenStore["Service"]> = Effect.sync(() => {
  const values = new Map<string, Redacted.Redacted<string>>()
  return {
    get: (key) => Effect.sync(() => Option.fromUndefinedOr(values.get(key))),
    set: (key, value) => Effect.sync(() => void values.set(key, value)),
    remove: (key) => Effect.sync(() => void values.delete(key)),
    exclusive: makeExclusive()
  }
})

/**
 * Keeps credentials as long as the layer lives.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<TokenStore> = Layer.effect(TokenStore, makeMemory)

/**
 * What {@link layerKeyValueStore} takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface KeyValueOptions extends WaitOptions {
  /** What all keys begin with. Default `mcp-credentials/`. */
  readonly prefix?: string | undefined
  /**
   * For a store that several processes share: a lock that holds in all of them. By default it holds in one, and two
   * processes may spend the same refresh token, after which the authorization server may end the login.
   */
  readonly exclusive?: Exclusive | undefined
}

const failure = (operation: TokenStoreError["operation"]) => (cause: KeyValueStore.KeyValueStoreError) =>
  // The cause is left out: a store may say in it what it was to keep.
  new TokenStoreError({ operation, detail: `the key-value store failed: ${cause.method}` })

/**
 * Keeps credentials in a `KeyValueStore`, as plain text: whoever reads that store has them. Its file system layer is not
 * fit for them, as it lets everybody on the machine read its files.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerKeyValueStore = (
  options?: KeyValueOptions
): Layer.Layer<TokenStore, never, KeyValueStore.KeyValueStore> =>
  Layer.effect(
    TokenStore,
    Effect.map(KeyValueStore.KeyValueStore, (unprefixed): TokenStore["Service"] => {
      const store = KeyValueStore.prefix(unprefixed, options?.prefix ?? "mcp-credentials/")
      return {
        get: (key) =>
          store.get(key).pipe(
            Effect.mapError(failure("read")),
            Effect.map((value) => Option.map(Option.fromUndefinedOr(value), (text) => Redacted.make(text)))
          ),
        set: (key, value) => Effect.mapError(store.set(key, Redacted.value(value)), failure("write")),
        remove: (key) => Effect.mapError(store.remove(key), failure("remove")),
        exclusive: options?.exclusive ?? makeExclusive(options)
      }
    })
  )
