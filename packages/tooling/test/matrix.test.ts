import { assert, beforeEach, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, vi } from "vitest"
import { record, track } from "../src/matrix.ts"
import { matrixTable, readRows } from "../src/matrixTable.ts"

const cell = { suite: "server", revision: "2025-11-25", transport: "memory" }

describe("the table", () => {
  const expected = { suites: ["server"], revisions: ["A", "B"], transports: ["memory", "stdio"], required: ["server"] }
  const row = (revision: string, transport: string, passed: number, failed: number) => ({
    suite: "server",
    revision,
    transport,
    passed,
    failed
  })

  it("shows as good only squares where tests ran and none failed", () => {
    const { absent, lines } = matrixTable(expected, [
      row("A", "memory", 2, 0),
      row("A", "memory", 1, 0),
      row("A", "stdio", 1, 1),
      row("B", "memory", 0, 0)
    ])
    assert.deepStrictEqual(lines.map((line) => line.split(/ {2,}/)), [
      ["server", "memory", "stdio"],
      ["A", "3 ok", "1 of 2 failed"],
      ["B", "none ran", "missing"]
    ])
    assert.deepStrictEqual(absent, ["server on B over memory", "server on B over stdio"])
  })

  it("expects no more of a suite than it can reach, and shows what is there all the same", () => {
    const reach = { server: { revisions: ["A"], transports: ["stdio"] } }
    const { absent, lines } = matrixTable({ ...expected, reach }, [row("B", "stdio", 1, 0)])
    assert.deepStrictEqual(lines.map((line) => line.split(/ {2,}/)), [
      ["server", "memory", "stdio"],
      ["A", "–", "missing"],
      ["B", "–", "1 ok"]
    ])
    assert.deepStrictEqual(absent, ["server on A over stdio"])
  })

  it("makes room for rows that nobody expected", () => {
    const { lines } = matrixTable({ ...expected, required: [] }, [{ ...row("C", "http", 1, 0), suite: "other" }])
    assert.isTrue(lines.some((line) => /^C .*1 ok$/.test(line)))
    assert.isTrue(lines.some((line) => line.startsWith("other")))
  })
})

describe("what suites write", () => {
  const folder = mkdtempSync(join(tmpdir(), "mcpfx-matrix-"))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  beforeEach(() => {
    vi.stubEnv("MCPFX_MATRIX_DIR", join(folder, "rows"))
    return () => vi.unstubAllEnvs()
  })

  it("is read back, one file for each record", () => {
    record({ ...cell, suite: "a/b c", passed: 1, failed: 0 })
    record({ ...cell, suite: "a/b c", passed: 2, failed: 1 })
    assert.sameDeepMembers(readRows(join(folder, "rows")), [
      { ...cell, suite: "a/b c", passed: 1, failed: 0 },
      { ...cell, suite: "a/b c", passed: 2, failed: 1 }
    ])
  })

  it("goes nowhere when no folder is named", () => {
    vi.stubEnv("MCPFX_MATRIX_DIR", undefined)
    const before = readRows(join(folder, "rows")).length
    record({ ...cell, passed: 1, failed: 0 })
    assert.lengthOf(readRows(join(folder, "rows")), before)
  })
})

describe("tracking", () => {
  const folder = mkdtempSync(join(tmpdir(), "mcpfx-track-"))
  beforeAll(() => {
    vi.stubEnv("MCPFX_MATRIX_DIR", folder)
    return () => {
      vi.unstubAllEnvs()
      rmSync(folder, { recursive: true, force: true })
    }
  })

  describe("a suite", () => {
    track(cell)
    it("counts its first test", () => assert.isTrue(true))
    it("counts its second test", () => assert.isTrue(true))
  })

  it("is written when the suite ends", () => {
    assert.deepStrictEqual(readRows(folder), [{ ...cell, passed: 2, failed: 0 }])
  })
})
