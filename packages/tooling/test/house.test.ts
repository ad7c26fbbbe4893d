import { assert, describe, it } from "@effect/vitest"
import { arrows } from "../src/house/arrows.ts"
import { banned } from "../src/house/banned.ts"
import { barrels } from "../src/house/barrels.ts"
import { type Manifest, manifests } from "../src/house/manifests.ts"
import { names } from "../src/house/names.ts"
import { format, type Problem } from "../src/house/problem.ts"
import { limits, sizes } from "../src/house/sizes.ts"

const declared = new Map([
  ["transport", new Set(["effect", "@mcpfx/schema"])],
  ["node", new Set(["effect", "@effect/platform-node"])]
])

const found = (problems: ReadonlyArray<Problem>): Array<string> => problems.map(format)

const imported = (path: string, specifier: string): Array<string> =>
  arrows([{ path, text: `import * as X from "${specifier}"\n` }], declared).map(({ message }) => message)

describe("arrows", () => {
  const source = "packages/transport/src/Link.ts"

  it("lets a package import modules of lower packages, of effect and of itself", () => {
    for (const specifier of ["@mcpfx/schema/JsonRpc", "effect/Effect", "effect/http/HttpRouter", "./internal/a.ts"]) {
      assert.deepStrictEqual(imported(source, specifier), [])
    }
  })

  it.each([
    ["@mcpfx/session/Session", "transport may not import session"],
    ["@mcpfx/schema", "imports a package, not a module of it"],
    ["@mcpfx/schema/internal/fields", "reaches into another package's internal folder"],
    ["@mcpfx/transport/Exchange", "imports its own package by name: use a relative path"],
    ["effect", "imports a barrel of effect: name the module"],
    ["effect/http", "imports a barrel of effect: name the module"],
    ["node:fs", "only the packages node and cli may import what Node brings"],
    ["fs", "only the packages node and cli may import what Node brings"],
    ["jose", "jose is neither a dependency nor a peer dependency of transport"],
    ["./index.ts", "imports a barrel: name the module"],
    ["@mcpfx/schema/index", "imports a package, not a module of it"],
    ["./Exchange", "relative import has no extension"],
    ["../../schema/src/JsonRpc.ts", "relative import leaves packages/transport/src/"],
    ["../test/golden.ts", "relative import leaves packages/transport/src/"]
  ])("refuses %s in a library source", (specifier, message) => {
    assert.deepStrictEqual(imported(source, specifier), [`"${specifier}": ${message}`])
  })

  it("lets one file of the profile look inside, and no other", () => {
    const specifier = "../../../server/src/internal/door.ts"
    assert.deepStrictEqual(imported("packages/bench/src/profile/internals.ts", specifier), [])
    assert.lengthOf(imported("packages/bench/src/profile/rows.ts", specifier), 1)
  })

  it("lets the package node use Node", () => {
    assert.deepStrictEqual(imported("packages/node/src/NodeListener.ts", "node:http"), [])
  })

  it("lets tests and private packages import barrels and Node, but no other package's internals", () => {
    const test = "packages/transport/test/Link.test.ts"
    for (const specifier of ["effect", "node:fs", "@mcpfx/testing/TestPeer", "../src/internal/a.ts"]) {
      assert.deepStrictEqual(imported(test, specifier), [])
    }
    assert.lengthOf(imported(test, "@mcpfx/schema/internal/fields"), 1)
    assert.lengthOf(imported("packages/bench/src/main.ts", "../../schema/src/JsonRpc.ts"), 1)
  })

  it("sees every form of import, and none in comments and strings", () => {
    const text = [
      "import \"node:a\"",
      "export * from \"node:fs\"",
      "const b = import(\"node:os\")",
      "type C = import(\"node:net\").Socket",
      "// import \"node:tls\"",
      "const d = 'import \"node:tls\"'"
    ].join("\n")
    const lines = arrows([{ path: source, text }], declared).map(({ line }) => line)
    assert.deepStrictEqual(lines, [1, 2, 3, 4])
  })
})

describe("manifests", () => {
  const check = (pkg: string, manifest: Omit<Manifest, "name">) =>
    manifests(new Map([[pkg, { name: `@mcpfx/${pkg}`, ...manifest }]])).map(({ message }) => message)

  it("wants effect as a peer, and only lower packages", () => {
    const peerDependencies = { effect: "~4.1.0" }
    assert.deepStrictEqual(check("session", { peerDependencies, dependencies: { "@mcpfx/schema": "workspace:^" } }), [])
    assert.lengthOf(check("session", { peerDependencies, dependencies: { "@mcpfx/server": "workspace:^" } }), 1)
    assert.lengthOf(check("session", { dependencies: { effect: "4.1.0" } }), 2)
  })

  it("knows every package, and which are private", () => {
    assert.lengthOf(check("extra", {}), 1)
    assert.lengthOf(check("bench", {}), 1)
    assert.deepStrictEqual(check("bench", { private: true }), [])
  })
})

describe("barrels", () => {
  const module = (path: string) => ({ path: `packages/schema/src/${path}`, text: "" })
  const modules = ["Tool.ts", "JsonRpc.ts", "internal/fields.ts", "revision/v2025_11_25.ts"].map(module)
  const good = "export * as JsonRpc from \"./JsonRpc.ts\"\nexport * as Tool from \"./Tool.ts\"\n"

  it("list every public module, sorted", () => {
    assert.deepStrictEqual(barrels([...modules, { ...module("index.ts"), text: good }]), [])
  })

  it("are wanted for every published package, and nowhere else", () => {
    assert.lengthOf(barrels(modules), 1)
    assert.lengthOf(barrels([...modules, { ...module("index.ts"), text: `${good}export const a = 1\n` }]), 1)
    assert.deepStrictEqual(barrels([{ path: "packages/bench/src/Main.ts", text: "" }]), [])
  })
})

describe("sizes", () => {
  const file = (lines: number) => [{ path: "packages/schema/src/A.ts", text: "x\n".repeat(lines) }]

  it("warns past the soft limit and fails past the hard one", () => {
    assert.deepStrictEqual(sizes(file(limits.soft)), [])
    assert.deepStrictEqual(sizes(file(limits.soft + 1)).map(({ level }) => level), ["warning"])
    assert.deepStrictEqual(sizes(file(limits.hard)).map(({ level }) => level), ["warning"])
    assert.deepStrictEqual(sizes(file(limits.hard + 1)).map(({ level }) => level), ["error"])
  })

  it("refuses section banners", () => {
    assert.deepStrictEqual(found(sizes([{ path: "a.ts", text: "x\n// ------- parts\n" }])), [
      "a.ts:2 a section banner means: split the file"
    ])
  })
})

describe("banned", () => {
  const path = "packages/session/src/Session.ts"
  const check = (text: string) =>
    banned([{ path, text }], []).map(({ line, message }) => `${line} ${message.split("\"")[1]}`)

  it.each([
    ["const f = async () => 1", "async"],
    ["await f()", "await"],
    ["for await (const x of y) {}", "await"],
    ["try { f() } catch {}", "try"],
    ["Date.now()", "Date.now"],
    ["new Date()", "Date.now"],
    ["setTimeout(f, 1)", "setTimeout"],
    ["globalThis.setTimeout(f, 1)", "setTimeout"],
    ["console.log(1)", "console"],
    ["globalThis.console.log(1)", "console"],
    ["process.exit(1)", "process"],
    ["const a = b as any", "any"],
    ["const a: any = b", "any"],
    ["// @ts-ignore", "@ts-ignore"],
    ["Effect.forkDetach(a)", "forkDetach"]
  ])("refuses %s", (text, word) => {
    assert.deepStrictEqual(check(text), [`1 ${word}`])
  })

  it("leaves alone what only looks alike", () => {
    const text = [
      "Effect.try({ try: () => f(), catch: g })",
      "Deferred.await(d)",
      "// await f(), console.log, Date.now()",
      "const a = \"process.exit(1)\"",
      "this.process.stdin",
      "const x: anything = y",
      "new Date(millis)"
    ].join("\n")
    assert.deepStrictEqual(check(text), [])
  })

  it("binds only the sources of published packages", () => {
    const text = "await f()"
    const paths = ["packages/tooling/src/a.ts", "packages/bench/src/a.ts", "packages/session/test/a.test.ts"]
    assert.deepStrictEqual(banned(paths.map((file) => ({ path: file, text })), []), [])
  })

  it("takes an exception with a reason, and refuses one without or one that is not used", () => {
    const files = [{ path, text: "await f()" }]
    assert.deepStrictEqual(banned(files, [{ path, word: "await", reason: "there is no other way" }]), [])
    assert.lengthOf(banned(files, [{ path, word: "await", reason: " " }]), 1)
    assert.lengthOf(banned([], [{ path, word: "await", reason: "there was no other way" }]), 1)
    assert.lengthOf(banned(files, [{ path: "packages/session/src/Peer.ts", word: "await", reason: "elsewhere" }]), 2)
  })
})

describe("names", () => {
  const check = (path: string) => names([{ path, text: "" }]).length

  it("wants a concept as the name of a public module", () => {
    assert.strictEqual(check("packages/schema/src/JsonRpc.ts"), 0)
    assert.strictEqual(check("packages/schema/src/revision/v2025_11_25.ts"), 0)
    assert.strictEqual(check("packages/schema/src/internal/fields.ts"), 0)
    assert.strictEqual(check("packages/schema/src/index.ts"), 0)
    assert.strictEqual(check("packages/cli/src/commands/serve.ts"), 0)
    assert.strictEqual(check("packages/schema/src/jsonRpc.ts"), 1)
    assert.strictEqual(check("packages/schema/src/internal/Fields.ts"), 1)
  })

  it("refuses names that say nothing, anywhere", () => {
    for (const path of ["src/Utils.ts", "src/internal/helpers.ts", "test/common.ts", "src/types/Tool.ts"]) {
      assert.strictEqual(check(`packages/schema/${path}`), 1)
      assert.strictEqual(check(`packages/tooling/${path}`), 1)
    }
    assert.strictEqual(check("packages/schema/src/HelperProcess.ts"), 0)
  })
})
