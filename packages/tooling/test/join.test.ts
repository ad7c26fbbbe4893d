import { assert, describe, it } from "@effect/vitest"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { graphOf, reached } from "../src/join/graph.ts"
import { groupsOf } from "../src/join/groups.ts"
import { joinPackage } from "../src/join/joinPackage.ts"
import { publicModules } from "../src/join/publicModules.ts"
import { pureCalls } from "../src/join/pureCalls.ts"
import { starts } from "../src/join/starts.ts"
import { astray, differences, hasCode, isFacade, twice, unasked } from "../src/pack/joined.ts"
import { root } from "../src/root.ts"

const at = (name: string) => `packages/schema/src/${name}.ts`
const graph = new Map([
  [at("Small"), [at("internal/core")]],
  [at("Large"), [at("internal/core"), at("internal/engine")]],
  [at("internal/core"), [at("internal/base")]],
  [at("internal/base"), [at("internal/core")]],
  [at("internal/engine"), []],
  [at("Rare"), [at("internal/shared"), at("internal/core")]],
  [at("Rarer"), [at("internal/shared")]],
  [at("internal/shared"), []]
])
const programs = new Map([["small", [at("Small")]], ["large", [at("Small"), at("Large")]]])

describe("modules that are joined", () => {
  it("are reached through circles, once each", () => {
    assert.deepStrictEqual(
      reached(graph, [at("Small")]),
      new Set([at("Small"), at("internal/core"), at("internal/base")])
    )
  })

  it("are those that the same programs load, and of the others those that the same public modules load", () => {
    assert.deepStrictEqual(
      groupsOf(graph, programs, [at("Small"), at("Large"), at("Rare"), at("Rarer")]),
      new Map([
        [at("Small"), "small-large"],
        [at("internal/core"), "small-large"],
        [at("internal/base"), "small-large"],
        [at("Large"), "large"],
        [at("internal/engine"), "large"],
        [at("Rare"), "Rare"],
        [at("internal/shared"), "shared"],
        [at("Rarer"), "Rarer"]
      ])
    )
  })

  it(
    "import only what is loaded wherever they are, and no two groups of a package have one name on any disk",
    async () => {
      const modules = publicModules(root).map(({ source }) => source)
      const real = await graphOf(root, modules)
      for (const start of [...starts.values()].flat()) assert.isTrue(real.has(start), start)
      const groups = groupsOf(real, starts, modules)
      const names = new Map<string, string>()
      for (const [module, name] of groups) {
        const key = `${module.split("/")[1]}/${name.toLowerCase()}`
        assert.strictEqual(names.get(key) ?? name, name)
        names.set(key, name)
        for (const next of real.get(module) ?? []) {
          if (!starts.has(name.split("-")[0] ?? "")) continue
          const [own, other] = [name.split("-"), groups.get(next)?.split("-") ?? []]
          assert.deepStrictEqual(own.filter((program) => !other.includes(program)), [], `${module} imports ${next}`)
        }
      }
    },
    60_000
  )
})

describe("a joined package", () => {
  const compiled: Readonly<Record<string, string>> = {
    "index": `export * as A from "./A.js"\nexport * as B from "./B.js"\n`,
    "A":
      `import { count } from "./internal/state.js"\nexport const next = () => count()\nexport { count } from "./internal/state.js"\n`,
    "B": `import * as State from "./internal/state.js"\nexport const next = () => State.count() * 10\n`,
    "internal/state":
      `/** Not wanted. */\nconst made = /* @__PURE__ */ new Map()\nlet at = 0\nexport const count = () => ++at\nexport const hidden = made\n`
  }

  it("has the names, the annotations and the one state of its modules, in few files", async () => {
    const scratch = mkdtempSync(join(tmpdir(), "mcpfx-join-"))
    const dist = join(scratch, "packages/schema/dist")
    mkdirSync(join(dist, "internal"), { recursive: true })
    writeFileSync(join(scratch, "package.json"), `{"type":"module"}`)
    for (const [name, text] of Object.entries(compiled)) {
      writeFileSync(join(dist, `${name}.js`), text)
      const sources = [join(dist, "..", "src", `${name}.ts`)]
      writeFileSync(join(dist, `${name}.js.map`), JSON.stringify({ version: 3, names: [], sources, mappings: "AAAA" }))
    }
    const modules = ["A", "B"].map((name) => ({ pkg: "schema", name, source: at(name) }))
    await joinPackage(scratch, "schema", modules, () => "all")
    const lib = join(scratch, "packages/schema/lib")
    const index: unknown = await import(pathToFileURL(join(lib, "index.js")).href)
    const a = await import(pathToFileURL(join(lib, "A.js")).href)
    const b = await import(pathToFileURL(join(lib, "B.js")).href)
    assert.deepStrictEqual([Object.keys(a), Object.keys(b)], [["count", "next"], ["next"]])
    assert.deepStrictEqual([a.next(), b.next(), a.count()], [1, 20, 3])
    assert.isTrue(index !== null && typeof index === "object" && "A" in index && index.A === a)
    const code = readFileSync(join(lib, "internal/all.js"), "utf8")
    assert.include(code, "/* @__PURE__ */ new Map()")
    assert.notInclude(code, "Not wanted")
    assert.isTrue(existsSync(join(lib, "internal/all.js.map")))
    rmSync(scratch, { recursive: true })
  })
})

describe("what is published of joined modules", () => {
  const origins = new Map([
    ["packages/schema/lib/internal/a.js", ["packages/schema/src/A.ts", "packages/schema/src/B.ts"]],
    ["packages/schema/lib/C.js", ["packages/schema/src/C.ts", "packages/schema/src/A.ts"]]
  ])

  it("is refused where a module is in two files", () => {
    assert.deepStrictEqual(twice(origins), [
      "packages/schema/src/A.ts is in packages/schema/lib/internal/a.js and in packages/schema/lib/C.js"
    ])
  })

  it("is refused where a map leads nowhere", () => {
    assert.deepStrictEqual(astray(origins, new Set(["packages/schema/src/A.ts", "packages/schema/src/C.ts"])), [
      "packages/schema/lib/internal/a.js leads to packages/schema/src/B.ts, which is not there"
    ])
  })

  it("lacks nothing where a module has no code", () => {
    assert.isFalse(hasCode(`/** Types. */\nexport {};\n//# sourceMappingURL=Link.js.map`))
    assert.isFalse(hasCode(`/* Both */\nexport * from "./A.js";\nexport * from "./B.js";\n`))
    assert.isTrue(hasCode(`export * from "./A.js";\nbring();\n`))
  })

  it("needs no map where it has nothing but names", () => {
    assert.isTrue(isFacade(`import { a, b$1 as b } from "./internal/c.js";\n\nexport { a, b };`))
    assert.isTrue(isFacade("export {  };"))
    assert.isFalse(isFacade(`import { a } from "./internal/c.js";\nvar b = a;\nexport { b };`))
    assert.isFalse(isFacade("export const b = 1;"))
  })

  it("is refused where a program loads what it does not import", () => {
    const files = ["file:///x/node_modules/@mcpfx/schema/lib/internal/a.js", "file:///x/node_modules/effect/dist/A.js"]
    assert.deepStrictEqual(unasked(files, origins, new Set(["packages/schema/src/A.ts"])), ["packages/schema/src/B.ts"])
  })

  it("is refused where a name is missing, is new, or is another thing than elsewhere", () => {
    assert.deepStrictEqual(
      differences("A: function\nB a: object, the same as A a\n", "A: function\nB a: object\nC: object\n"),
      [
        "only in the sources: B a: object, the same as A a",
        "only in what is published: B a: object",
        "only in what is published: C: object"
      ]
    )
  })
})

describe("calls that bundlers may leave out", () => {
  const marked = (code: string): string =>
    [...pureCalls(code)].toSorted((a, b) => b - a).reduce((text, at) => `${text.slice(0, at)}!${text.slice(at)}`, code)

  it.each([
    ["give names their values", "const a = make(one(), new Map())", "const a = !make(!one(), !new Map())"],
    ["are exported", "export const a = b.c(1).pipe(d(2))", "export const a = !b.c(1).pipe(!d(2))"],
    ["make what a class extends", "class A extends of(\"A\")() {}", "class A extends !of(\"A\")() {}"]
  ])("are those that %s", (_, code, expected) => {
    assert.strictEqual(marked(code), expected)
  })

  it.each([
    ["statements", "register(1)"],
    ["in functions", "const a = () => b(c())\nfunction d() { const e = f() }\nconst g = function() { return new H() }"],
    ["in members of classes", "class A { b = c(); d() { const e = f() } static { g() } }"]
  ])("are not %s", (_, code) => {
    assert.strictEqual(marked(code), code)
  })
})
