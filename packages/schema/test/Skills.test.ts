import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Skills from "../src/Skills.ts"

const digest = `sha256:${"0".repeat(64)}`
const file = (uri: string) => ({ uri, digest, size: 1 })

const entry = {
  uri: "skill://acme/refunds/SKILL.md",
  frontmatter: { name: "refunds", description: "Pays money back", license: "MIT" },
  resources: [file("skill://acme/refunds/SKILL.md"), file("skill://acme/refunds/a.md")]
}

describe("entries", () => {
  it("[SKL-02] one that is right keeps all that its author wrote", () => {
    assert.isTrue(Skills.isEntry(entry))
    assert.isTrue(Skills.isEntry({ ...entry, resources: "dynamic", more: 1 }))
  })

  const bad: ReadonlyArray<readonly [string, unknown]> = [
    ["no resources", { uri: entry.uri, frontmatter: entry.frontmatter }],
    ["other resources", { ...entry, resources: "none" }],
    ["no description", { ...entry, frontmatter: { name: "refunds" } }],
    ["another name", { ...entry, frontmatter: { ...entry.frontmatter, name: "returns" } }],
    ["another file", { ...entry, uri: "skill://acme/refunds/README.md" }],
    ["without SKILL.md among its files", { ...entry, resources: [file("skill://acme/refunds/a.md")] }],
    ["a file twice", { ...entry, resources: [...entry.resources, file("skill://acme/refunds/a.md")] }],
    ["files of others", { ...entry, resources: [...entry.resources, file("skill://acme/refunds2/a.md")] }],
    ["a digest that is none", { ...entry, resources: [{ ...file(entry.uri), digest: "sha256:ABC" }] }],
    ["a size that is none", { ...entry, resources: [{ ...file(entry.uri), size: -1 }] }]
  ]
  for (const [what, value] of bad) {
    it(`[SKL-02] ${what}: is none`, () => {
      assert.isFalse(Skills.isEntry(value))
      assert.isString(Skills.fault(value))
    })
  }

  it("[SKL-02] names are small letters, digits and single hyphens", () => {
    for (const name of ["a", "pdf-processing", "a1", "a".repeat(64)]) assert.isTrue(Skills.isName(name), name)
    for (const name of ["", "A", "-a", "a-", "a--b", "a_b", "ä", "a".repeat(65)]) {
      assert.isFalse(Skills.isName(name), name)
    }
  })
})

describe("frontmatter", () => {
  const of = (yaml: string) => Skills.frontmatter(`---\n${yaml}\n---\n\n# Body\n`)

  it("[SKL-02] is read as JSON, word for word", () => {
    const text = "name: a\ndescription: \"It: does\"\nmetadata:\n  version: \"2.1\"\n  tags: [x, 1, true, null]"
    assert.deepStrictEqual(
      of(text),
      Result.succeed({
        name: "a",
        description: "It: does",
        metadata: { version: "2.1", tags: ["x", 1, true, null] }
      })
    )
  })

  it("is found behind a byte order mark and with line ends of all kinds", () => {
    const text = "\uFEFF---\r\nname: a\r\ndescription: A\r\n---\r\nbody"
    assert.deepStrictEqual(Skills.frontmatter(text), Result.succeed({ name: "a", description: "A" }))
  })

  const bad: ReadonlyArray<readonly [string, string]> = [
    ["none", "# Body\n"],
    ["not at the beginning", "\n---\nname: a\ndescription: A\n---\n"],
    ["no end", "---\nname: a\ndescription: A\n"],
    ["a list", "---\n- a\n---\n"],
    ["no YAML", "---\nname: \"a\ndescription: A\n---\n"],
    ["no name", "---\ndescription: A\n---\n"],
    ["an empty description", "---\nname: a\ndescription: \"\"\n---\n"],
    ["a number that JSON lacks", "---\nname: a\ndescription: A\nx: .inf\n---\n"],
    ["too long", `---\nname: a\ndescription: ${"A".repeat(70_000)}\n---\n`]
  ]
  for (const [what, text] of bad) {
    it(`${what}: is refused with a reason`, () => {
      const read = Skills.frontmatter(text)
      assert.isTrue(Result.isFailure(read))
      if (Result.isFailure(read)) assert.isNotEmpty(read.failure)
    })
  }

  it("[EXT-08] aliases that repeat each other do not fill the memory", () => {
    const levels = Array.from(
      { length: 20 },
      (_, n) => `k${n}: &k${n} [${Array(10).fill(n === 0 ? "x" : `*k${n - 1}`)}]`
    )
    const read = of(["name: a", "description: A", ...levels].join("\n"))
    assert.isTrue(Result.isFailure(read))
  })
})
