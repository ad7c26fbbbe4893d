import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { versions } from "../src/Revision.ts"
import * as Revisions from "../src/Revisions.ts"

const version = fc.constantFrom("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "2099-01-01", "")
const supported = fc.subarray([...Revisions.all])

describe("negotiate", () => {
  it("[LIF-03] echoes a legacy version that is supported", () => {
    for (const revision of Revisions.all.filter((one) => one.era === "legacy")) {
      assert.strictEqual(Revisions.negotiate(revision.version, Revisions.all), revision)
    }
  })

  it("[LIF-03] answers the newest supported legacy version to any other, a modern one among them", () => {
    for (const asked of ["2026-07-28", "2099-01-01", "1.0", "", "constructor"]) {
      assert.strictEqual(Revisions.negotiate(asked, Revisions.all), Revisions.newestLegacy)
    }
    const old = Revisions.all.slice(0, 2)
    assert.strictEqual(Revisions.negotiate("2025-11-25", old)?.version, "2025-03-26")
  })

  it("[LIF-03] never agrees on what is not supported or not legacy", () => {
    fc.assert(fc.property(version, supported, (asked, revisions) => {
      const agreed = Revisions.negotiate(asked, revisions)
      const legacy = revisions.filter((revision) => revision.era === "legacy")
      if (legacy.length === 0) return assert.isUndefined(agreed)
      assert.isTrue(agreed !== undefined && legacy.includes(agreed))
      if (agreed?.version !== asked) assert.isFalse(legacy.some((revision) => revision.version === asked))
    }))
  })
})

describe("the registry", () => {
  it("[LIF-03] lists the revisions in the order of time", () => {
    assert.deepStrictEqual(Revisions.all.map((revision) => revision.ordinal), [0, 1, 2, 3, 4])
    assert.deepStrictEqual(
      Revisions.all.map((revision) => revision.version),
      Revisions.all.map((revision) => revision.version).sort()
    )
    assert.strictEqual(Revisions.newest, Revisions.all.at(-1))
    assert.strictEqual(Revisions.assumed.version, "2025-03-26")
  })

  it("[VER-01] finds revisions by name and nothing by other names", () => {
    for (const revision of Revisions.all) assert.strictEqual(Revisions.byVersion(revision.version), revision)
    for (const name of ["draft", "", "__proto__", "2026-07-28 "]) assert.isUndefined(Revisions.byVersion(name))
  })

  it("[VER-05] names supported versions newest first", () => {
    assert.deepStrictEqual(Revisions.versions(Revisions.all), [
      "2026-07-28",
      "2025-11-25",
      "2025-06-18",
      "2025-03-26",
      "2024-11-05"
    ])
  })

  it("are all named, oldest first, where the names alone are asked for", () => {
    assert.deepStrictEqual<ReadonlyArray<string>>(versions, Revisions.all.map((revision) => revision.version))
  })

  it("[VER-02] retries with a modern version that both sides name, else with none", () => {
    assert.strictEqual(Revisions.mutualModern(Revisions.all, ["2026-07-28", "2025-11-25"]), Revisions.newest)
    assert.isUndefined(Revisions.mutualModern(Revisions.all, ["2025-11-25"]))
    assert.isUndefined(Revisions.mutualModern(Revisions.all, ["2027-01-01"]))
  })
})
