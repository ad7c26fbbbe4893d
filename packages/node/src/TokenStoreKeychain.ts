/**
 * Credentials in the keychain of the operating system: Keychain on macOS, Credential Manager on Windows, the Secret Service
 * (GNOME Keyring, KWallet) on Linux. They are encrypted where they lie, and the system may ask the person to unlock them.
 *
 * It takes the package `@napi-rs/keyring`, which is loaded when the layer is built; a program that does not use this module
 * does not need it. What is larger than an entry may be on Windows (2,560 bytes) is kept in several. Where there is no
 * Secret Service, as on a server, the store fails instead of keeping credentials in memory: take `TokenStoreFile` there.
 *
 * **Example** (A desktop application)
 *
 * ```ts
 * import { NodeServices } from "@effect/platform-node"
 * import { TokenStoreKeychain } from "@mcpfx/node"
 * import { Layer } from "effect"
 *
 * export const Store = TokenStoreKeychain.layer({ name: "calculator" }).pipe(Layer.provide(NodeServices.layer))
 * ```
 *
 * @since 0.1.0
 */
import { TokenStore, type TokenStoreError, type WaitOptions } from "@mcpfx/auth/TokenStore"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { platform } from "node:process"
import { applicationName } from "./internal/applicationName.ts"
import { CredentialFiles, folderOf } from "./internal/credentialFiles.ts"
import { makeExclusive } from "./internal/exclusive.ts"
import { KeychainEntries } from "./internal/keychainEntries.ts"
import { load } from "./internal/keyring.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options extends WaitOptions {
  /**
   * The name of the application, which its entries have. Programs that share a name share what they keep. It has to be one
   * that a folder can have too, as for `TokenStoreFile`. Default `mcpfx`.
   */
  readonly name?: string | undefined
  /**
   * The folder of the locks that `exclusive` takes; nothing secret is in it. By default `locks` in the application's folder
   * for settings.
   */
  readonly directory?: string | undefined
  /** How long each call of the keychain may take, with the time to ask the person to unlock it. Default 2 minutes. */
  readonly timeout?: Duration.Input | undefined
}

/** Credential Manager holds 2,560 bytes of UTF-16; some are left. */
const partLength = platform === "win32" ? 1200 : undefined

/**
 * Keeps credentials in the keychain. Fails where the package is missing, or the folder of the locks cannot be made, and for a
 * name or a directory that is none.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<TokenStore, TokenStoreError, FileSystem.FileSystem> =>
  Layer.effect(
    TokenStore,
    Effect.gen(function*() {
      const service = yield* applicationName(options?.name)
      const directory = yield* folderOf(options?.directory, service, "locks")
      const keyring = yield* load()
      const fileSystem = yield* FileSystem.FileSystem
      const locks = new CredentialFiles(fileSystem, directory)
      yield* locks.prepare
      const timeout = Duration.fromInputUnsafe(options?.timeout ?? "2 minutes")
      const entries = new KeychainEntries(keyring, { service, timeout, partLength })
      return {
        get: (key) => entries.get(key),
        set: (key, value) => entries.set(key, value),
        remove: (key) => entries.remove(key),
        exclusive: makeExclusive(fileSystem, (key) => locks.pathOf(key, ".lock"), options?.wait)
      }
    })
  )
