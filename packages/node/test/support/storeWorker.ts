/** A process that spends one refresh token after the other, each of which is good once. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { TokenStore } from "@mcpfx/auth/TokenStore"
import * as TokenStoreFile from "@mcpfx/node/TokenStoreFile"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { writeFileSync } from "node:fs"
import { join } from "node:path"

const [directory = "", spent = "", times = "0"] = process.argv.slice(2)

/** Fails where the token has been spent before. */
const refresh = (token: string): string => {
  writeFileSync(join(spent, token), "", { flag: "wx" })
  return String(Number(token) + 1)
}

const program = Effect.gen(function*() {
  const store = yield* TokenStore
  for (let left = Number(times); left > 0; left--) {
    yield* store.exclusive(
      "login",
      Effect.gen(function*() {
        const token = Option.getOrElse(yield* store.get("login"), () => Redacted.make("0"))
        const next = refresh(Redacted.value(token))
        yield* Effect.sleep("1 millis")
        yield* store.set("login", Redacted.make(next))
      })
    )
  }
})

await Effect.runPromise(
  Effect.provide(program, TokenStoreFile.layer({ directory }).pipe(Layer.provide(NodeFileSystem.layer)))
)
