import { assert, describe, it } from "@effect/vitest"
import { Challenge } from "@mcpfx/auth"
import fc from "fast-check"

const name = fc.stringMatching(/^[a-z][a-z0-9_-]{0,10}$/)
const value = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) })
const challenge = fc.record({
  scheme: name,
  parameters: fc.uniqueArray(fc.tuple(name, value), { selector: ([name]) => name, maxLength: 8 })
})

describe("challenges", () => {
  it("[ACL-02] what is written is read again, alone and beside others", () => {
    fc.assert(fc.property(fc.array(challenge, { maxLength: 6 }), (challenges) => {
      const read = Challenge.parse(challenges.map(Challenge.print).join(", "))
      assert.deepStrictEqual(
        read.map(({ parameters, scheme }) => ({ scheme, parameters: [...parameters] })),
        challenges
      )
    }))
  })

  it("[ACL-02] reading never throws, whatever comes", () => {
    const piece = fc.constantFrom(",", "=", "\"", "\\", " ", "\t", "Bearer", "a", "==", "\u0000", "é", "scope", "\r\n")
    fc.assert(fc.property(fc.array(fc.oneof(piece, fc.string())), (pieces) => {
      for (const { parameters, scheme } of Challenge.parse(pieces.join(""))) {
        assert.match(scheme, /^[^\s,="]+$/)
        for (const [name] of parameters) assert.match(name, /^[^\s,="]+$/)
      }
    }))
  })

  it("[ARS-05] what is written is one line of printable characters", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (name, value) => {
      const printed = Challenge.print({ scheme: name, parameters: [[name, value], ["scope", value]] })
      assert.match(printed, /^[\x20-\x7e]*$/)
      assert.isAtMost(Challenge.parse(`${printed}, Basic`).length, 2)
    }))
  })
})
