import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../src/root.ts"

const isScripts = (u: unknown): u is { readonly scripts: Readonly<Record<string, string>> } =>
  typeof u === "object" && u !== null && "scripts" in u && typeof u.scripts === "object" && u.scripts !== null

const manifest: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const scripts = isScripts(manifest) ? Object.entries(manifest.scripts) : []

const guides = ["README.md", ...readdirSync(join(root, "docs")).map((name) => join("docs", name))]
const texts = guides.map((name) => readFileSync(join(root, name), "utf8")).join("\n")

describe("the scripts of the repository", () => {
  it("go through the one door, each under its own name", () => {
    assert.isNotEmpty(scripts)
    for (const [name, command] of scripts) {
      assert.strictEqual(command, `node packages/tooling/bin/run.mjs ${name}`)
    }
  })

  it("are in a guide, each of them", () => {
    const told = new Set(Array.from(texts.matchAll(/npm (?:run )?([a-z]+(?:[:-][a-z]+)*)/g), ([, name]) => name))
    assert.deepStrictEqual(scripts.map(([name]) => name).filter((name) => !told.has(name)), [])
  })
})
