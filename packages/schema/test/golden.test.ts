import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { casesOf, fileOf, folders, root, sorted, written } from "./support/golden.ts"
import { faults, has } from "./support/official.ts"

for (const [folder, revision, tasks] of folders) {
  const cases = casesOf(revision, tasks)

  describe(`fixtures of ${folder}`, () => {
    it("[RPC-01] every message has one, and there are no others", () => {
      const files = readdirSync(new URL(`${folder}/`, root)).sort()
      assert.deepStrictEqual(files, cases.map(({ example }) => fileOf(example)).sort())
    })

    for (const { example, part } of cases) {
      const url = new URL(`${folder}/${fileOf(example)}`, root)
      const { asked, decode, encode, names, shape } = part

      it(`[LIF-18] ${example.method.name} ${example.part} (${example.name}) is written exactly so`, () => {
        const fixture: unknown = JSON.parse(readFileSync(url, "utf8"))
        assert.deepStrictEqual(sorted(written(revision, example, part)), sorted(fixture))
      })

      it(`[META-16] ${example.method.name} ${example.part} (${example.name}) is read and written back unchanged`, () => {
        const fixture: unknown = JSON.parse(readFileSync(url, "utf8"))
        const read = decode(fixture)
        assert.isTrue(Result.isSuccess(read), Result.isFailure(read) ? read.failure.message() : "")
        assert.deepStrictEqual(encode(Result.getOrThrow(read)), fixture)
      })

      it(`[LIF-18] ${example.method.name} ${example.part} (${example.name}) has no member of another revision`, () => {
        const fixture: unknown = JSON.parse(readFileSync(url, "utf8"))
        const exact = Schema.decodeUnknownResult(shape, { onExcessProperty: "error" })(fixture)
        assert.isTrue(Result.isSuccess(exact), Result.isFailure(exact) ? String(exact.failure) : "")
        const applicable = names.filter((name) => has(revision.version, name))
        const message = example.part === "result"
          ? fixture
          : {
            ...(asked ? {} : { jsonrpc: "2.0" }),
            ...(asked || example.method.kind === "notification" ? {} : { id: 1 }),
            method: example.method.name,
            params: fixture
          }
        const found = applicable.map((name) => faults(revision.version, name, message))
        assert.isTrue(applicable.length === 0 || found.some((list) => list.length === 0), found.flat().join("\n"))
      })
    }
  })
}
