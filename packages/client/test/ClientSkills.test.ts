import { assert, describe, it } from "@effect/vitest"
import { type JsonRpc, Skills } from "@mcpfx/schema"
import { Resource } from "@mcpfx/schema"
import * as McpServer from "@mcpfx/server/McpServer"
import * as ServerExtension from "@mcpfx/server/ServerExtension"
import * as ServerSkills from "@mcpfx/server/ServerSkills"
import * as TestServer from "@mcpfx/testing/TestServer"
import { Effect, Layer } from "effect"
import * as ClientSkills from "../src/ClientSkills.ts"

const text = "---\nname: tidy\ndescription: Tidies up\n---\n\nFollow `rules.md`.\n"
const Tidy = ServerSkills.skill("tidy", {
  "SKILL.md": text,
  "rules.md": "# Rules\n",
  "logo.png": new Uint8Array([0, 255])
})

/** A server whose files are others than its entries say. */
const lying = (entry: unknown, files: Readonly<Record<string, string>>) =>
  Layer.mergeAll(
    ServerExtension.layer(Skills.Extension, {
      settings: {},
      handlers: {
        "skills/list": () => Effect.succeed({ skills: [entry, { uri: "skill://broken/SKILL.md" }] }),
        "skills/get": () => Effect.die("not asked for"),
        "resources/directory/read": () => Effect.die("not asked for")
      }
    }),
    ...Object.entries(files).map(([uri, content]) =>
      McpServer.resource(Resource.make(uri, { name: uri, mimeType: "text/markdown" }), content)
    )
  )

const reasonOf = Effect.fnUntraced(function*(change: (skill: Skills.Skill) => unknown, served: string) {
  const { entry } = yield* Tidy
  const server = lying(change(entry), { "skill://tidy/SKILL.md": served, "skill://tidy/rules.md": "# Rules\n" })
  return yield* Effect.gen(function*() {
    const [skill, ...others] = yield* ClientSkills.list()
    assert.deepStrictEqual(others, [])
    if (skill === undefined) return "none"
    const error = yield* Effect.flip(ClientSkills.load(skill))
    return error._tag === "SkillUnverified" ? error.reason : error._tag
  }).pipe(Effect.provide(TestServer.layer(server)))
})

describe("files of a skill", () => {
  it.effect("[SKL-03] are what the entry says, by path and by URI", () =>
    Effect.gen(function*() {
      const [skill] = yield* ClientSkills.list()
      assert.isDefined(skill)
      if (skill === undefined) return
      assert.strictEqual(yield* ClientSkills.load(skill), text)
      assert.strictEqual((yield* ClientSkills.read(skill, "rules.md")).text, "# Rules\n")
      assert.strictEqual((yield* ClientSkills.read(skill, "skill://tidy/rules.md")).mimeType, "text/markdown")
      assert.deepStrictEqual((yield* ClientSkills.read(skill, "logo.png")).bytes, new Uint8Array([0, 255]))
    }).pipe(Effect.provide(TestServer.layer(ServerSkills.layer(Effect.all([Tidy]))))))

  it.effect("[SKL-03] that the entry does not name are not asked for", () =>
    Effect.gen(function*() {
      const skill = yield* ClientSkills.get("skill://tidy/SKILL.md")
      for (const file of ["other.md", "../other/SKILL.md", "skill://other/SKILL.md", "https://a.example/x"]) {
        const error = yield* Effect.flip(ClientSkills.read(skill, file))
        assert.strictEqual(error._tag === "SkillUnverified" ? error.reason : error._tag, "unlisted")
      }
    }).pipe(Effect.provide(TestServer.layer(ServerSkills.layer(Effect.all([Tidy]))))))

  it.effect("[SKL-03] of another length, other bytes or other frontmatter are refused", () =>
    Effect.gen(function*() {
      const same = (skill: Skills.Skill) => skill
      assert.strictEqual(yield* reasonOf(same, `${text}more`), "size")
      assert.strictEqual(yield* reasonOf(same, text.replace("Follow", "Ignore")), "digest")
      const other = (skill: Skills.Skill) => ({ ...skill, frontmatter: { ...skill.frontmatter, license: "MIT" } })
      assert.strictEqual(yield* reasonOf(other, text), "frontmatter")
      const dynamic = (skill: Skills.Skill): JsonRpc.JsonObject => ({ ...skill, resources: "dynamic" })
      assert.strictEqual(yield* reasonOf(dynamic, text.replace("Tidies", "Deletes")), "frontmatter")
      assert.strictEqual(yield* reasonOf(dynamic, "no frontmatter"), "frontmatter")
    }))

  it.effect("[EXT-04] of a server without skills are not asked for", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(ClientSkills.list())
      assert.strictEqual(error.reason._tag, "NotOffered")
    }).pipe(Effect.provide(TestServer.layer(Layer.empty))))
})
