import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { TokenStoreFile, TokenStoreKeychain } from "@mcpfx/node"
import { Effect, Layer } from "effect"
import * as fc from "fast-check"
import { posix, win32 } from "node:path"
import { applicationName } from "../src/internal/applicationName.ts"

const stores = { TokenStoreFile, TokenStoreKeychain }

/** What is wrong with the options of a store; nothing of it is made. */
const refused = (name: keyof typeof stores, options: TokenStoreFile.Options) =>
  Effect.map(
    Effect.flip(Effect.scoped(Layer.build(stores[name].layer(options)))),
    ({ detail }) => detail
  ).pipe(Effect.provide(NodeFileSystem.layer))

const bad = [
  "",
  " ",
  ".",
  "..",
  "../x",
  "..\\x",
  "a/b",
  "a\\b",
  "/etc",
  "C:",
  "C:\\x",
  "x\0",
  "x\n",
  " x",
  "x ",
  "x.",
  "nul",
  "COM1.txt",
  "a*",
  "x".repeat(101)
]

const good = [
  "mcpfx",
  "notes-reader",
  "com.example.notes",
  "Notes Reader",
  ".notes",
  "Notizen für alle",
  "メモ",
  "console"
]

describe("the name of an application", () => {
  for (const store of ["TokenStoreFile", "TokenStoreKeychain"] as const) {
    it.live(`[ACL-25] that is no name of a folder is refused by ${store}, with itself in the words`, () =>
      Effect.gen(function*() {
        for (const name of bad) {
          assert.include(yield* refused(store, { name }), `${JSON.stringify(name.slice(0, 100))} cannot be the name of`)
        }
        assert.include(yield* refused(store, { directory: "" }), "the directory for credentials is empty")
      }))
  }

  it.live("[ACL-25] leads to a folder below the settings of the user, and nowhere else", () =>
    Effect.gen(function*() {
      for (const name of good) assert.strictEqual(yield* applicationName(name), name)
      const name = fc.oneof(fc.string(), fc.constantFrom(...bad, ...good), fc.stringMatching(/^[./\\ :a-c]{0,6}$/))
      fc.assert(fc.property(name, (name) => {
        const taken = Effect.runSync(Effect.result(applicationName(name)))
        if (taken._tag === "Failure") return
        for (const path of [posix, win32]) {
          const root = path === win32 ? "C:\\home\\settings" : "/home/settings"
          assert.strictEqual(path.dirname(path.join(root, name)), root)
          assert.strictEqual(path.basename(path.join(root, name)), name)
        }
      }))
    }))
})
