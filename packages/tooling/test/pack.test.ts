import { assert, describe, it } from "@effect/vitest"
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect, type PackedManifest } from "../src/pack/inspect.ts"
import { removeStaleOutputs } from "../src/pack/staleOutputs.ts"
import { publicModules } from "../src/pack/tarball.ts"

const paths = ["LICENSE", "package.json", "dist/A.js", "dist/A.d.ts", "dist/A.js.map", "src/A.ts"]
const tarball = (files: ReadonlyArray<string>) => ({
  name: "@mcpfx/schema",
  version: "0.1.0",
  filename: "/tmp/a.tgz",
  size: 1,
  files: files.map((path) => ({ path }))
})
const manifest: PackedManifest = {
  exports: {
    "./package.json": "./package.json",
    "./internal/*": null,
    "./*": { types: "./dist/*.d.ts", default: "./dist/*.js" }
  },
  dependencies: { "@mcpfx/transport": "^0.1.0" },
  license: "MIT"
}

describe("a packed package", () => {
  it("is good as it should be", () => {
    assert.deepStrictEqual(inspect(tarball(paths), manifest), [])
  })

  it.each<[string, ReadonlyArray<string>, PackedManifest]>([
    ["exports \"./*\" as ./src/*.ts", paths, { ...manifest, exports: { "./*": "./src/*.ts" } }],
    ["asks for @mcpfx/transport as workspace:^", paths, {
      ...manifest,
      dependencies: { "@mcpfx/transport": "workspace:^" }
    }],
    ["asks for effect as catalog:", paths, { ...manifest, peerDependencies: { effect: "catalog:" } }],
    ["holds dist/.tsbuildinfo", [...paths, "dist/.tsbuildinfo"], manifest],
    ["holds test/A.test.ts", [...paths, "test/A.test.ts"], manifest],
    ["holds no LICENSE", paths.filter((path) => path !== "LICENSE"), manifest],
    ["lacks dist/A.d.ts", paths.filter((path) => path !== "dist/A.d.ts"), manifest],
    ["holds no compiled module", ["LICENSE", "package.json"], manifest]
  ])("is refused when it %s", (message, files, packed) => {
    const problems = inspect(tarball(files), packed)
    assert.lengthOf(problems, 1)
    assert.include(problems[0], message)
  })

  it("offers its modules, not its internals", () => {
    const files = [
      "dist/index.js",
      "dist/B.js",
      "dist/A.js",
      "dist/A.d.ts",
      "dist/internal/c.js",
      "dist/revision/internal/d.js",
      "dist/revision/v1.js"
    ]
    assert.deepStrictEqual(publicModules(tarball(files)), [
      "@mcpfx/schema",
      "@mcpfx/schema/A",
      "@mcpfx/schema/B",
      "@mcpfx/schema/revision/v1"
    ])
  })
})

describe("outputs without a source", () => {
  it("are deleted, and only they", () => {
    const root = mkdtempSync(join(tmpdir(), "mcpfx-stale-"))
    const at = (path: string) => join(root, "packages/schema", path)
    mkdirSync(at("src"), { recursive: true })
    mkdirSync(at("dist"), { recursive: true })
    for (const path of ["src/A.ts", "dist/A.js", "dist/A.d.ts.map", "dist/B.js", "dist/.tsbuildinfo"]) {
      writeFileSync(at(path), "")
    }
    assert.deepStrictEqual(removeStaleOutputs(root, "schema"), ["packages/schema/dist/B.js"])
    assert.deepStrictEqual(
      ["dist/A.js", "dist/A.d.ts.map", "dist/B.js", "dist/.tsbuildinfo"].map((path) => existsSync(at(path))),
      [
        true,
        true,
        false,
        true
      ]
    )
    rmSync(root, { recursive: true })
  })
})
