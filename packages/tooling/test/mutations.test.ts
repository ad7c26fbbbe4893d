import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { coverage } from "../src/mutations/coverage.ts"
import { mutate, type Mutation, title } from "../src/mutations/mutation.ts"
import { mutations } from "../src/mutations/mutations.ts"
import { sample } from "../src/mutations/sample.ts"
import { root } from "../src/root.ts"

const mutation: Mutation = { ids: ["RPC-05"], file: "a/src/A.ts", find: "id: 1", replace: "id: $&", tests: [] }

describe("a mutation", () => {
  it("changes one place, and takes its replacement as it is", () => {
    assert.strictEqual(mutate("a, id: 1, b", mutation), "a, id: $&, b")
  })

  it("is stale where its place is gone, or is not the only one", () => {
    assert.isUndefined(mutate("a, b", mutation))
    assert.isUndefined(mutate("id: 1, id: 1", mutation))
    assert.isUndefined(mutate("aaa", { ...mutation, find: "aa" }))
  })

  it("is named by what it breaks, where, and its first line", () => {
    assert.strictEqual(title({ ...mutation, find: "  one\n  two\n" }), "RPC-05  a/src/A.ts  one")
  })
})

describe("a sample", () => {
  const items = Array.from({ length: 100 }, (_, at) => at)

  it("is the same for the same seed, and another for another one", () => {
    assert.deepStrictEqual(sample(items, 6, "a"), sample(items, 6, "a"))
    assert.notDeepEqual(sample(items, 6, "a"), sample(items, 6, "b"))
  })

  it("has as many items as it was asked for, none twice, at most all", () => {
    assert.strictEqual(new Set(sample(items, 6, "a")).size, 6)
    assert.deepStrictEqual(sample(items, 1000, "a"), items)
  })

  it("leaves out nothing for ever", () => {
    const seen = new Set(Array.from({ length: 200 }, (_, at) => sample(items, 6, `seed ${at}`)).flat())
    assert.strictEqual(seen.size, 100)
  })
})

describe("the list", () => {
  it("has no stale entry, and names tests that are there, of one package each", () => {
    const bad = mutations.filter((one) => {
      const path = join(root, "packages", one.file)
      return !existsSync(path) || mutate(readFileSync(path, "utf8"), one) === undefined
        || one.tests.some((test) => !existsSync(join(root, "packages", test)))
        || new Set(one.tests.map((test) => test.split("/")[0])).size !== 1
    })
    assert.deepStrictEqual(bad.map(title), [])
  })

  it("names requirements that exist", () => {
    assert.deepStrictEqual(coverage(root, mutations).unknown, [])
  })
})
