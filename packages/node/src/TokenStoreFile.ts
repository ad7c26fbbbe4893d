/**
 * Credentials in files: for the programs of one person on one machine, such as a command line tool.
 *
 * Each secret is a file of its own, which only its owner may read (mode 0600, in a folder of mode 0700; wider rights are
 * taken back). It is replaced whole and on disk before `set` succeeds, so that a crash, a full disk or a folder that cannot
 * be written to leave what was there; `exclusive` holds across processes. On Windows, where there are no modes, files have
 * the rights of the folder: the default one is in the profile of the user. Nothing is encrypted: who can read the files of
 * the user can read the credentials. `TokenStoreKeychain` leaves them to the operating system.
 *
 * **Example** (A client that stays logged in)
 *
 * ```ts
 * import { NodeServices } from "@effect/platform-node"
 * import { TokenStoreFile } from "@mcpfx/node"
 * import { Layer } from "effect"
 *
 * // ~/.config/calculator/credentials on Linux
 * export const Store = TokenStoreFile.layer({ name: "calculator" }).pipe(Layer.provide(NodeServices.layer))
 * ```
 *
 * @since 0.1.0
 */
import { TokenStore, type TokenStoreError, type WaitOptions } from "@mcpfx/auth/TokenStore"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { applicationName } from "./internal/applicationName.ts"
import { CredentialFiles, folderOf } from "./internal/credentialFiles.ts"
import { makeExclusive } from "./internal/exclusive.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options extends WaitOptions {
  /**
   * The name of the application, which its folder has. Programs that share a name share what they keep. At most 100
   * characters, and none that names of folders cannot have, on whichever system. Default `mcpfx`.
   */
  readonly name?: string | undefined
  /**
   * The folder, in place of the default one: `credentials` in the application's folder for settings, which is in
   * `$XDG_CONFIG_HOME` or `~/.config` on Linux, `~/Library/Application Support` on macOS, `%APPDATA%` on Windows. Nothing
   * else should be in it.
   */
  readonly directory?: string | undefined
}

/**
 * Keeps credentials in files. Fails where the folder cannot be made or belongs to somebody else, and for a name or a
 * directory that is none.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<TokenStore, TokenStoreError, FileSystem.FileSystem> =>
  Layer.effect(
    TokenStore,
    Effect.gen(function*() {
      const fileSystem = yield* FileSystem.FileSystem
      const name = yield* applicationName(options?.name)
      const directory = yield* folderOf(options?.directory, name, "credentials")
      const files = new CredentialFiles(fileSystem, directory)
      yield* files.prepare
      return {
        get: (key) => files.get(key),
        set: (key, value) => files.set(key, value),
        remove: (key) => files.remove(key),
        exclusive: makeExclusive(fileSystem, (key) => files.pathOf(key, ".lock"), options?.wait)
      }
    })
  )
