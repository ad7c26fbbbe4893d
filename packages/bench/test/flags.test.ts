import { assert, describe, it } from "@effect/vitest"
import { amountOf, chosenOf, countOf, flagsOf, idsOf, namesOf, Refused } from "../src/flags.ts"

/** Why a command line is refused. */
const refusal = (read: () => unknown): string => {
  try {
    read()
  } catch (error) {
    if (error instanceof Refused) return error.message
    throw error
  }
  return "it is taken"
}

describe("a command line", () => {
  const options = { rounds: { type: "string", default: "9" }, quick: { type: "boolean", default: false } } as const

  it("gives its flags, or what they are without it", () => {
    assert.deepStrictEqual({ ...flagsOf(options, ["--quick"]) }, { rounds: "9", quick: true })
    assert.deepStrictEqual({ ...flagsOf(options, ["--rounds", "3"]) }, { rounds: "3", quick: false })
  })

  it("is refused with what there is", () => {
    const unknown = refusal(() => flagsOf(options, ["--round", "3"]))
    assert.include(unknown, "'--round'")
    assert.include(unknown, "There are: --rounds <value>, --quick")
    assert.include(refusal(() => flagsOf(options, ["--rounds"])), "argument missing")
    assert.include(refusal(() => flagsOf(options, ["3"])), "'3'")
    assert.notInclude(refusal(() => flagsOf({}, ["--help"])), "There are")
  })
})

describe("a number", () => {
  it("of rounds is whole and 1 or more", () => {
    assert.strictEqual(countOf("rounds", "15"), 15)
    for (const text of ["0", "-1", "1.5", "x", "", "1e3", "NaN", "Infinity", "99999999999999999999"]) {
      assert.strictEqual(
        refusal(() => countOf("rounds", text)),
        `--rounds takes a whole number of 1 or more, not "${text}"`
      )
    }
  })

  it("of minutes is above 0", () => {
    assert.strictEqual(amountOf("minutes", "1.5"), 1.5)
    for (const text of ["0", "-1", "x", "", "Infinity"]) {
      assert.include(refusal(() => amountOf("minutes", text)), `not "${text}"`)
    }
  })
})

describe("a list", () => {
  const known = ["stdio-64", "stdio-1", "http"]

  it("of names has those that are known alone", () => {
    assert.deepStrictEqual(namesOf("only", "http, stdio-1", known), ["http", "stdio-1"])
    const unknown = refusal(() => namesOf("only", "http,stdio", known))
    assert.include(unknown, "not \"stdio\"")
    assert.include(unknown, "There are: stdio-64, stdio-1, http")
  })

  it("of ids has all that start so, in their own order", () => {
    assert.deepStrictEqual(idsOf("rows", "http,stdio", known), known)
    assert.deepStrictEqual(chosenOf("rows", "stdio-6", known.map((id) => ({ id }))), [{ id: "stdio-64" }])
    assert.lengthOf(chosenOf("rows", undefined, known.map((id) => ({ id }))), 3)
  })

  it("of ids is refused where nothing starts with one of them", () => {
    const unknown = refusal(() => idsOf("rows", "http,nope", known))
    assert.include(unknown, "not \"nope\"")
    assert.include(unknown, "There are: stdio-64, stdio-1, http")
    for (const text of ["", "http,"]) assert.include(refusal(() => idsOf("rows", text, known)), "not \"\"")
  })
})
