/** The operating system's keychain, as `@napi-rs/keyring` offers it: loaded when somebody wants it. */
import { TokenStoreError } from "@mcpfx/auth/TokenStore"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"

/** One entry of a keychain. */
export interface Entry {
  readonly getPassword: (signal?: AbortSignal) => Promise<string | null | undefined>
  readonly setPassword: (password: string, signal?: AbortSignal) => Promise<void>
  readonly deleteCredential: (signal?: AbortSignal) => Promise<boolean>
}

export interface EntryOptions {
  /** Otherwise it falls back to a store in the kernel, which forgets when the user logs out. */
  readonly linux: { readonly store: "secret-service" }
}

export interface Keyring {
  readonly AsyncEntry: new(service: string, account: string, options: EntryOptions) => Entry
}

const isKeyring = (module: unknown): module is Keyring =>
  Predicate.hasProperty(module, "AsyncEntry") && typeof module.AsyncEntry === "function"

/** Not written where it is imported: bundlers would ask for it in programs that do without. */
const packageName = "@napi-rs/keyring"

const missing = (detail: string): TokenStoreError => new TokenStoreError({ operation: "read", detail })

/** Modules of the old kind have what they export in `default` too. */
const exported = (module: unknown): unknown =>
  isKeyring(module) || !Predicate.hasProperty(module, "default") ? module : module.default

export const load = (
  from: () => Promise<unknown> = () => import(packageName)
): Effect.Effect<Keyring, TokenStoreError> =>
  Effect.tryPromise({
    try: from,
    catch: () => missing(`the package ${packageName} is not installed, or not for this system`)
  }).pipe(
    Effect.flatMap((module) => {
      const keyring = exported(module)
      return isKeyring(keyring)
        ? Effect.succeed(keyring)
        : Effect.fail(missing(`the package ${packageName} is of a version that is not known`))
    })
  )
