import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { families } from "../src/profile/checks.ts"
import { parts } from "../src/profile/fixture.ts"
import type { Path } from "../src/profile/path.ts"
import { paths } from "../src/profile/run.ts"
import { canCompile, cases } from "../src/profile/schemaModes.ts"

/** Runs every piece of it a few times; whoever renames something on a hot path hears of it here. */
const once = async (path: Path): Promise<void> => {
  await path.verify()
  for (const { probe } of path.steps) await probe.run(2)
  await path.whole.run(3)
  await path.verify()
}

describe("every path of the profile answers as it should, and so do its steps", () => {
  it.live("paths", () =>
    Effect.gen(function*() {
      const all = yield* parts
      const ids: Array<string> = []
      for (const making of paths(all)) {
        yield* Effect.scoped(Effect.gen(function*() {
          const path = yield* making
          yield* Effect.promise(() => once(path))
          ids.push(path.id)
        }))
      }
      assert.strictEqual(new Set(ids).size, ids.length)
      for (const id of ["stdio", "stdio-modern", "http", "http-sse", "list", "read", "sleep", "ask", "client-http"]) {
        assert.include(ids, id)
      }
    }).pipe(Effect.scoped), 60_000)

  it.live(
    "with and without what is paid for",
    () =>
      Effect.forEach(
        families,
        (making) =>
          Effect.scoped(Effect.flatMap(making, ({ base, variants }) =>
            Effect.promise(async () => {
              for (const { probe, verify } of [base, ...variants]) {
                await verify()
                await probe.run(3)
              }
            })))
      ),
    60_000
  )

  it("schemas are read alike by both ways of reading them", () => {
    assert.isTrue(canCompile())
    for (const { make, value } of cases) assert.isTrue(Schema.decodeUnknownResult(make())(value)._tag === "Success")
  })
})
