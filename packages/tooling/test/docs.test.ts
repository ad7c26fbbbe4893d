import { assert, describe, it } from "@effect/vitest"
import { executable, hasResults } from "../src/docs/executable.ts"
import { expectEqual } from "../src/docs/expectEqual.ts"
import { fileNameOf, snippets } from "../src/docs/snippets.ts"

describe("snippets", () => {
  it("takes the ts blocks of Markdown, with their lines", () => {
    const text = "# A\n\n```ts\nconst a = 1\n```\n\n```sh\nls\n```\n\n  ```ts\n  const b = 2\n    const c = 3\n  ```\n"
    assert.deepStrictEqual(snippets({ path: "docs/a.md", text }), [
      { path: "docs/a.md", line: 3, code: "const a = 1\n" },
      { path: "docs/a.md", line: 11, code: "const b = 2\n  const c = 3\n" }
    ])
  })

  it("takes the ts blocks of doc comments, and no others", () => {
    const text =
      "const x = \"```ts\"\n/**\n * Adds.\n *\n * ```ts\n * add(1,\n *   2)\n *\n * ```\n */\n/* ```ts\nno\n``` */\n"
    assert.deepStrictEqual(snippets({ path: "packages/schema/src/A.ts", text }), [
      { path: "packages/schema/src/A.ts", line: 5, code: "add(1,\n  2)\n\n" }
    ])
  })

  it("names a file after the place", () => {
    assert.strictEqual(fileNameOf({ path: "docs/a.md", line: 3, code: "" }), "docs+a.md+3.ts")
  })
})

describe("results", () => {
  const snippet = (code: string) => ({ path: "a.md", line: 1, code })

  it("are found only in comments", () => {
    assert.isTrue(hasResults(snippet("f() // => 1")))
    assert.isFalse(hasResults(snippet("const a = \"// => 1\"\nf() // 1")))
  })

  it("become checks on the same line", () => {
    assert.deepStrictEqual(executable(snippet("const a = f() // => 1\ng(a) // => { b: 2 }\nh()"), "e").split("\n"), [
      "import { expectEqual } from \"e\";const a = f();expectEqual(a, (1), \"a.md:2\")",
      ";expectEqual((g(a)), ({ b: 2 }), \"a.md:3\")",
      "h()"
    ])
  })

  it("fail when they are wrong", () => {
    expectEqual({ a: [1] }, { a: [1] }, "a.md:2")
    assert.throws(() => expectEqual({ a: 1 }, { a: 2 }, "a.md:2"), "a.md:2 does not evaluate to what it says")
  })
})
