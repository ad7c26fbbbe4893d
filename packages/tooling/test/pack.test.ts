import { assert, describe, it } from "@effect/vitest"
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bun, deno, workerd } from "../src/pack/binaries.ts"
import { strangers, weights } from "../src/pack/bundle.ts"
import { inspect, type PackedManifest } from "../src/pack/inspect.ts"
import { removeStaleOutputs } from "../src/pack/staleOutputs.ts"
import { publicModules } from "../src/pack/tarball.ts"

const paths = ["LICENSE", "package.json", "dist/A.d.ts", "lib/A.js", "lib/A.js.map", "lib/internal/a.js", "src/A.ts"]
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
    "./*": { types: "./dist/*.d.ts", default: "./lib/*.js" }
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
    ["exports \"./*\" as ./dist/*.js", paths, { ...manifest, exports: { "./*": "./dist/*.js" } }],
    ["holds dist/A.js", [...paths, "dist/A.js"], manifest],
    ["lacks dist/A.d.ts", paths.filter((path) => path !== "dist/A.d.ts"), manifest],
    ["lacks lib/B.js", [...paths, "dist/B.d.ts"], manifest],
    ["holds no code", ["LICENSE", "package.json"], manifest]
  ])("is refused when it %s", (message, files, packed) => {
    const problems = inspect(tarball(files), packed)
    assert.lengthOf(problems, 1)
    assert.include(problems[0], message)
  })

  it("offers its modules, not its internals", () => {
    const files = [
      "lib/index.js",
      "lib/B.js",
      "lib/A.js",
      "dist/A.d.ts",
      "lib/internal/c.js",
      "lib/revision/internal/d.js",
      "lib/revision/v1.js"
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

describe("a bundle", () => {
  const at = (path: string) => `node_modules/.pnpm/effect@4.1.0/node_modules/effect/dist/${path}`
  const inputs = {
    [at("Effect.js")]: { bytesInOutput: 10 },
    [at("ai/Tool.js")]: { bytesInOutput: 3 },
    [at("cluster/Entity.js")]: { bytesInOutput: 0 },
    "node_modules/@mcpfx/server/dist/cli.js": { bytesInOutput: 5 },
    "hello.ts": { bytesInOutput: 1 }
  }

  it("has strangers where a byte of them is left in it", () => {
    assert.deepStrictEqual(strangers(inputs), [at("ai/Tool.js")])
    assert.deepStrictEqual(strangers({ "node_modules/jose/dist/index.js": { bytesInOutput: 1 } }), [
      "node_modules/jose/dist/index.js"
    ])
  })

  it("is weighed by package, the heaviest first", () => {
    assert.deepStrictEqual(weights(inputs), [["effect", 13], ["@mcpfx/server", 5], ["the program", 1]])
  })
})

describe("a run time of the registry", () => {
  it("has a build for each system that it is packaged for", () => {
    assert.deepStrictEqual(
      [
        bun.build("linux", "x64"),
        bun.build("win32", "x64"),
        deno.build("linux", "arm64"),
        deno.build("darwin", "arm64"),
        workerd.build("linux", "x64"),
        workerd.build("win32", "x64"),
        workerd.build("darwin", "arm64"),
        bun.build("sunos", "x64"),
        deno.build("linux", "ppc64")
      ],
      [
        { pkg: "@oven/bun-linux-x64", file: "bin/bun" },
        { pkg: "@oven/bun-windows-x64", file: "bin/bun.exe" },
        { pkg: "@deno/linux-arm64-glibc", file: "deno" },
        { pkg: "@deno/darwin-arm64", file: "deno" },
        { pkg: "@cloudflare/workerd-linux-64", file: "bin/workerd" },
        { pkg: "@cloudflare/workerd-windows-64", file: "bin/workerd.exe" },
        { pkg: "@cloudflare/workerd-darwin-arm64", file: "bin/workerd" },
        undefined,
        undefined
      ]
    )
  })
})
