/** What is called bundled has all it imports, and what is called installed has none of it. */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { compileStart, type Way } from "../src/starts/programs.ts"
import { bundled } from "../src/weights/bundled.ts"

const folder = mkdtempSync(join(tmpdir(), "bundles-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The modules that a text of JavaScript imports by name. */
const importsOf = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(/\b(?:from|import)\s*"([^"]+)"/g), ([, name]) => name ?? "")

const isOfNode = (name: string): boolean => name.startsWith("node:")

describe("a program", () => {
  const start = async (way: Way): Promise<string> => {
    const file = join(folder, `${way}.js`)
    await compileStart("starts/effect.ts", way, file)
    return readFileSync(file, "utf8")
  }

  it("that starts as it is installed imports Effect", async () => {
    assert.include(importsOf(await start("installed")), "effect/Effect")
  })

  it("that starts as a bundle imports nothing but Node", async () => {
    const text = await start("bundled")
    assert.deepStrictEqual(importsOf(text).filter((name) => !isOfNode(name)), [])
    assert.isAbove(text.length, 50_000)
  })

  it("that is weighed imports nothing but Node", async () => {
    const text = await bundled(join(import.meta.dirname, "../src/weights/bare.ts"), false)
    assert.deepStrictEqual(importsOf(text).filter((name) => !isOfNode(name)), [])
    assert.isAbove(text.length, 50_000)
  })
})
