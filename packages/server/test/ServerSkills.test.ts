import { NodeServices } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import * as ClientExtension from "@mcpfx/client/ClientExtension"
import * as ClientSkills from "@mcpfx/client/ClientSkills"
import * as McpClient from "@mcpfx/client/McpClient"
import { Codes, Skills } from "@mcpfx/schema"
import * as TestServer from "@mcpfx/testing/TestServer"
import { Effect, FileSystem, Layer, Option, Path } from "effect"
import { InvalidSkill } from "../src/ServerError.ts"
import * as ServerSkills from "../src/ServerSkills.ts"
import { allVersions } from "./protocol/harness.ts"

const manifest = (name: string, more = "") =>
  `---\nname: ${name}\ndescription: About ${name}\n${more}---\n\n# ${name}\n`
const png = new Uint8Array([137, 80, 78, 71, 0, 255])

const Refunds = ServerSkills.skill("acme/refunds", {
  "SKILL.md": manifest("refunds", "license: MIT\n"),
  "examples/an email.md": "Dear customer\n",
  "logo.png": png
})
const Tidy = ServerSkills.skill("tidy", { "SKILL.md": manifest("tidy") })
const Live = ServerSkills.layer(Effect.all([Refunds, Tidy]), { cache: { ttlMs: 5000, scope: "public" } })

const codeOf = <A, R>(effect: Effect.Effect<A, import("@mcpfx/client/McpClientError").McpClientError, R>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason._tag === "Refused" ? reason.code : reason._tag)

describe("skills", () => {
  for (const revision of allVersions) {
    it.effect(`[SKL-01] [SKL-02] ${revision}: are listed with all their files, and found by URI`, () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const { capabilities } = yield* client.server
        assert.deepStrictEqual(capabilities.extensions, { [Skills.id]: { directoryRead: true } })
        assert.isDefined(capabilities.resources)
        const [refunds, tidy] = yield* ClientSkills.list()
        assert.deepStrictEqual(refunds?.frontmatter, { name: "refunds", description: "About refunds", license: "MIT" })
        assert.deepStrictEqual(
          refunds?.resources === "dynamic" ? [] : refunds?.resources.map(({ size, uri }) => [uri, size]),
          [
            ["skill://acme/refunds/SKILL.md", manifest("refunds", "license: MIT\n").length],
            ["skill://acme/refunds/examples/an%20email.md", 14],
            ["skill://acme/refunds/logo.png", 6]
          ]
        )
        assert.deepStrictEqual(yield* ClientSkills.get("skill://tidy/SKILL.md"), tidy)
        const raw = yield* client.requestRaw("skills/get", { uri: "skill://tidy/SKILL.md" })
        const modern = revision === "2026-07-28"
        assert.deepStrictEqual([raw["ttlMs"], raw["cacheScope"]], modern ? [5000, "public"] : [undefined, undefined])
      }).pipe(Effect.provide(TestServer.layer(Live, { revision }))))

    it.effect(`[SKL-02] ${revision}: an unknown one is -32602`, () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* codeOf(ClientSkills.get("skill://other/SKILL.md")), Codes.invalidParams)
        assert.strictEqual(yield* codeOf(ClientSkills.get("skill://tidy")), Codes.invalidParams)
      }).pipe(Effect.provide(TestServer.layer(Live, { revision }))))

    it.effect(`[SKL-01] ${revision}: directories are read level by level`, () =>
      Effect.gen(function*() {
        const root = yield* ClientSkills.directory("skill://acme/refunds")
        assert.deepStrictEqual(root.map(({ mimeType, name }) => [name, mimeType]), [
          ["refunds", "text/markdown"],
          ["examples", "inode/directory"],
          ["logo.png", "image/png"]
        ])
        const above = yield* ClientSkills.directory("skill://acme")
        assert.deepStrictEqual(above.map(({ uri }) => uri), ["skill://acme/refunds"])
        for (const uri of ["skill://acme/refunds/SKILL.md", "skill://nowhere", "skill://acme/refunds/"]) {
          assert.strictEqual(yield* codeOf(ClientSkills.directory(uri)), Codes.invalidParams)
        }
      }).pipe(Effect.provide(TestServer.layer(Live, { revision }))))
  }

  it.effect("[SKL-01] directories are not read where the settings do not say so", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      assert.deepStrictEqual(yield* ClientExtension.server(Skills.Extension), Option.some({}))
      assert.strictEqual(yield* codeOf(ClientSkills.directory("skill://tidy")), "NotOffered")
      assert.strictEqual(
        yield* codeOf(client.requestRaw("resources/directory/read", { uri: "skill://tidy" })),
        Codes.methodNotFound
      )
    }).pipe(Effect.provide(TestServer.layer(ServerSkills.layer(Effect.all([Tidy]), { directoryRead: false })))))

  it.effect("[SKL-01] where there are none, nothing is announced", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const { capabilities } = yield* client.server
      assert.deepStrictEqual([capabilities.extensions, capabilities.resources], [undefined, undefined])
    }).pipe(Effect.provide(TestServer.layer(ServerSkills.layer(Effect.succeed([]))))))

  it.effect("[PAG-02] lists come in pages", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const page = yield* client.request(Skills.List, {})
      assert.strictEqual(page.skills.length, 1)
      assert.isDefined(page.nextCursor)
      assert.strictEqual((yield* ClientSkills.list()).length, 2)
      assert.strictEqual((yield* ClientSkills.directory("skill://acme/refunds")).length, 3)
      assert.strictEqual(yield* codeOf(client.request(Skills.List, { cursor: "x" })), Codes.invalidParams)
    }).pipe(Effect.provide(TestServer.layer(Live, { server: { pageSize: 1 } }))))

  it.effect("[SKL-02] one that is made at each read says so", () => {
    let reads = 0
    const Daily = ServerSkills.skill("daily", {
      "SKILL.md": manifest("daily"),
      "report.md": Effect.sync(() => `report ${++reads}`)
    })
    return Effect.gen(function*() {
      const skill = yield* ClientSkills.get("skill://daily/SKILL.md")
      assert.strictEqual(skill.resources, "dynamic")
      assert.strictEqual(reads, 0)
      assert.strictEqual((yield* ClientSkills.read(skill, "report.md")).text, "report 1")
      assert.strictEqual((yield* ClientSkills.read(skill, "report.md")).text, "report 2")
    }).pipe(Effect.provide(TestServer.layer(ServerSkills.layer(Effect.all([Daily])))))
  })

  const invalid: ReadonlyArray<readonly [string, string, Readonly<Record<string, string | Uint8Array>>]> = [
    ["no SKILL.md", "a", { "README.md": "" }],
    ["no frontmatter", "a", { "SKILL.md": "# A" }],
    ["another name", "b", { "SKILL.md": manifest("a") }],
    ["a name against the rules", "A", { "SKILL.md": manifest("A") }],
    ["a path that leads elsewhere", "../a", { "SKILL.md": manifest("a") }],
    ["a file that leads elsewhere", "a", { "SKILL.md": manifest("a"), "../b": "" }],
    ["a file at the root", "a", { "SKILL.md": manifest("a"), "/etc/passwd": "" }],
    ["too many bytes", "a", { "SKILL.md": manifest("a"), b: new Uint8Array(Skills.limits.bytes) }],
    ["too many files", "a", {
      "SKILL.md": manifest("a"),
      ...Object.fromEntries(Array.from({ length: Skills.limits.resources }, (_, n) => [`${n}.md`, ""]))
    }]
  ]
  for (const [what, path, files] of invalid) {
    it.effect(`[SKL-02] ${what}: is refused, and named`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(ServerSkills.skill(path, files))
        assert.instanceOf(error, InvalidSkill)
        assert.include(error.message, path)
      }))
  }
})

layer(NodeServices.layer)("a directory", (it) => {
  const tree = Effect.fnUntraced(function*(files: Readonly<Record<string, string>>) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const root = yield* fs.makeTempDirectoryScoped()
    for (const [name, text] of Object.entries(files)) {
      yield* fs.makeDirectory(path.dirname(path.join(root, name)), { recursive: true })
      yield* fs.writeFileString(path.join(root, name), text)
    }
    return root
  })

  it.effect("[SKL-02] is searched for skills, nested ones too, without what is hidden", () =>
    Effect.gen(function*() {
      const root = yield* tree({
        "skills/acme/refunds/SKILL.md": manifest("refunds"),
        "skills/acme/refunds/a.md": "a",
        "skills/acme/refunds/.env": "SECRET=1",
        "skills/acme/refunds/inner/SKILL.md": manifest("inner"),
        "skills/README.md": "no skill",
        "skills/.git/SKILL.md": manifest("git")
      })
      const found = yield* ServerSkills.directory(`${root}/skills`)
      assert.deepStrictEqual(
        found.map(({ entry, files }) => [entry.uri, files.map(({ uri }) => uri.slice("skill://acme/refunds/".length))]),
        [
          ["skill://acme/refunds/SKILL.md", ["SKILL.md", "a.md", "inner/SKILL.md"]],
          ["skill://acme/refunds/inner/SKILL.md", ["inner/SKILL.md"]]
        ]
      )
      const served = TestServer.layer(ServerSkills.layer(ServerSkills.directory(`${root}/skills`)))
      yield* Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const skill = yield* ClientSkills.get("skill://acme/refunds/inner/SKILL.md")
        assert.include(yield* ClientSkills.load(skill), "# inner")
        const resources = yield* client.resources
        assert.strictEqual(resources.find(({ uri }) => uri.endsWith("inner/SKILL.md"))?.name, "inner")
        for (const uri of ["skill://acme/refunds/.env", "skill://acme/refunds/../../../etc/passwd"]) {
          assert.strictEqual((yield* Effect.flip(client.readResource(uri))).reason._tag, "ResourceNotFound")
        }
      }).pipe(Effect.provide(served))
    }))

  it.effect("[SKL-02] what a link leads to outside of it is left out", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const root = yield* tree({ "skills/tidy/SKILL.md": manifest("tidy"), "secret/key.pem": "secret" })
      yield* fs.symlink(`${root}/secret/key.pem`, `${root}/skills/tidy/key.pem`)
      yield* fs.symlink(`${root}/secret`, `${root}/skills/tidy/secret`)
      yield* fs.symlink(`${root}/skills`, `${root}/skills/tidy/loop`)
      const [found, ...others] = yield* ServerSkills.directory(`${root}/skills`)
      assert.deepStrictEqual(found?.files.map(({ uri }) => uri), ["skill://tidy/SKILL.md"])
      assert.deepStrictEqual(others, [])
    }))

  it.effect("is bounded, and a skill that is none fails it", () =>
    Effect.gen(function*() {
      const root = yield* tree({ "a/SKILL.md": manifest("a"), "a/b.md": "x".repeat(1000), "c/SKILL.md": manifest("c") })
      const bytes = yield* Effect.flip(ServerSkills.directory(root, { maxBytes: 500 }))
      assert.include(String(bytes), "500 bytes")
      const skills = yield* Effect.flip(ServerSkills.directory(root, { maxSkills: 1 }))
      assert.include(String(skills), "1 skills")
      const broken = yield* tree({ "a/SKILL.md": "# A" })
      assert.include(String(yield* Effect.flip(ServerSkills.directory(broken))), "\"a\" is no skill")
      const missing = yield* Effect.flip(Effect.scoped(Layer.build(
        TestServer.layer(ServerSkills.layer(ServerSkills.directory(`${root}/nowhere`)))
      )))
      assert.strictEqual(missing._tag, "PlatformError")
    }))
})
