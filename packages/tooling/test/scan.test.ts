import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { lineAt, scan } from "../src/scan.ts"

const literals = (text: string) => scan(text).literals.map(({ value }) => value)
const comments = (text: string) => scan(text).comments.map(({ value }) => value)

describe("scan", () => {
  it("blanks comments and the insides of strings, and nothing else", () => {
    assert.strictEqual(scan("a // b\nc /* d */ e \"f\" 'g'").code, "a     \nc         e \" \" ' '")
  })

  it("keeps an escaped quote inside its string", () => {
    assert.deepStrictEqual(literals(String.raw`x = "a\"b" + 'c\\' + "d"`), [String.raw`a\"b`, String.raw`c\\`, "d"])
  })

  it("follows templates into their expressions and back", () => {
    const text = "`a ${ { b: `c ${d} e` } } f` + g"
    assert.deepStrictEqual(literals(text), ["a ", "c ", " e", " f"])
    assert.include(scan(text).code, "{ b: `")
    assert.include(scan(text).code, "+ g")
  })

  it("does not take the slashes of an address in a string for a comment", () => {
    assert.deepStrictEqual(comments("const a = \"http://b\" // c"), ["// c"])
  })

  it("tells a regular expression from a division", () => {
    assert.deepStrictEqual(literals("const a = /[\"/]b/g.test(c) ? d / e / f : (g) / \"h\""), ["[\"/]b/", "h"])
    assert.deepStrictEqual(literals("return /'/ + 'x'"), ["'", "x"])
    assert.deepStrictEqual(literals("i++ / 2 / 'x'"), ["x"])
  })

  it("takes an unfinished comment to the end of the text", () => {
    assert.deepStrictEqual(comments("a /* b"), ["/* b"])
  })

  it("keeps the length and the lines of any text", () => {
    const piece = fc.constantFrom("a", " ", "\n", "\"", "'", "`", "${", "{", "}", "/", "*", "//", "\\", "(", "return ")
    fc.assert(fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const text = pieces.join("")
      const { code } = scan(text)
      assert.strictEqual(code.length, text.length)
      assert.strictEqual(code.replace(/[^\n]/g, ""), text.replace(/[^\n]/g, ""))
    }))
  })

  it("counts lines from one", () => {
    assert.deepStrictEqual([0, 1, 2, 3].map((offset) => lineAt("a\nb\n", offset)), [1, 1, 2, 2])
  })
})
