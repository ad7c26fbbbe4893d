/**
 * The extension `io.modelcontextprotocol/skills`: directories of instructions for agents, served as resources.
 *
 * A skill is known by the URI of its `SKILL.md`; its entry holds that file's frontmatter and, unless it is made on the spot,
 * every file it consists of with its digest. Only servers announce the extension. It works on every revision.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as CustomMethod from "./CustomMethod.ts"
import * as Extension_ from "./Extension.ts"
import * as Frontmatter_ from "./internal/frontmatter.ts"
import { open } from "./internal/json.ts"
import { Descriptor } from "./internal/resourceShapes.ts"

/**
 * The identifier of the extension.
 *
 * @category constants
 * @since 0.1.0
 */
export const id = "io.modelcontextprotocol/skills"

/** The file that makes a directory a skill. @category constants @since 0.1.0 */
export const manifest = "SKILL.md"

/** The type of resources that are directories. @category constants @since 0.1.0 */
export const directoryType = "inode/directory"

/** What every host accepts of one skill: so many files, so many bytes of them. @category constants @since 0.1.0 */
export const limits = { resources: 512, bytes: 16_777_216 } as const

const digestPattern = /^sha256:[0-9a-f]{64}$/

/**
 * One file of a skill. The digest and the size are of its raw bytes.
 *
 * @category schemas
 * @since 0.1.0
 */
export const File = open({
  uri: Schema.String,
  digest: Schema.String.check(Schema.isPattern(digestPattern)),
  size: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
})

/**
 * @category models
 * @since 0.1.0
 */
export interface File extends Schema.Schema.Type<typeof File> {}

/**
 * The frontmatter of a `SKILL.md`, word for word: all that its author wrote.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Frontmatter = open({ name: Schema.String, description: Schema.String })

/**
 * @category models
 * @since 0.1.0
 */
export interface Frontmatter extends Schema.Schema.Type<typeof Frontmatter> {}

/**
 * The entry of one skill (SKL-02). `resources` names every file, `SKILL.md` included, or says that they are made when they
 * are read, so that nothing about them can be known before.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Skill = open({
  uri: Schema.String,
  frontmatter: Frontmatter,
  resources: Schema.Union([Schema.Array(File), Schema.Literal("dynamic")])
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Skill extends Schema.Schema.Type<typeof Skill> {}

const cacheable = {
  ttlMs: Schema.optionalKey(Schema.Int),
  cacheScope: Schema.optionalKey(Schema.Literals(["public", "private"]))
}

/** The entries are read one by one, so that one bad entry does not take the others with it. */
const Entries = Schema.Array(Schema.Unknown)

/** Lists the skills, page by page. @category requests @since 0.1.0 */
export const List = CustomMethod.request("skills/list", {
  params: { cursor: Schema.optionalKey(Schema.String) },
  result: { skills: Entries, nextCursor: Schema.optionalKey(Schema.String), ...cacheable }
})

/** Gives the entry of one skill by the URI of its `SKILL.md`; `-32602` for others. @category requests @since 0.1.0 */
export const Get = CustomMethod.request("skills/get", {
  params: { uri: Schema.String },
  result: { skill: Skill, ...cacheable }
})

/**
 * Lists what stands in a directory, not what stands in its directories; `-32602` for what is none. Only where the server's
 * settings say `directoryRead`.
 *
 * @category requests
 * @since 0.1.0
 */
export const ReadDirectory = CustomMethod.request("resources/directory/read", {
  params: { uri: Schema.String, cursor: Schema.optionalKey(Schema.String) },
  result: { resources: Schema.Array(Descriptor), nextCursor: Schema.optionalKey(Schema.String) }
})

/**
 * The extension itself.
 *
 * @category extensions
 * @since 0.1.0
 */
export const Extension = Extension_.make(id, {
  official: true,
  mutual: false,
  serverSettings: { directoryRead: Schema.optionalKey(Schema.Boolean) },
  requests: [List, Get, ReadDirectory]
})

const isSkill = Schema.is(Skill.schema)
const isFrontmatter = Schema.is(Frontmatter.schema)

/**
 * The directory of a skill: the URI of its `SKILL.md` without that; `undefined` for other URIs.
 *
 * @category getters
 * @since 0.1.0
 */
export const rootOf = (uri: string): string | undefined =>
  uri.endsWith(`/${manifest}`) ? uri.slice(0, -manifest.length - 1) : undefined

const namePattern = /^(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/

/**
 * Whether a text is the name of a skill: 1 to 64 small letters, digits and single hyphens inside.
 *
 * @category guards
 * @since 0.1.0
 */
export const isName = (name: string): boolean => namePattern.test(name)

/**
 * What is wrong with an entry, in one line; `undefined` when nothing is (SKL-02): its shape, its name that is not the last
 * part of its path, or files that are not its own, twice there, or lack `SKILL.md`.
 *
 * **Example** (An entry that is none)
 *
 * ```ts
 * import { Skills } from "@mcpfx/schema"
 *
 * const skill = { uri: "skill://a/SKILL.md", frontmatter: { name: "b", description: "B" }, resources: "dynamic" }
 * Skills.fault(skill) // => "its name is not the last part of its path"
 * ```
 *
 * @category guards
 * @since 0.1.0
 */
export const fault = (entry: unknown): string | undefined => {
  if (!isSkill(entry)) return "it has not the shape of an entry"
  const root = rootOf(entry.uri)
  if (root === undefined) return `its URI does not end in /${manifest}`
  if (root.slice(root.lastIndexOf("/") + 1) !== entry.frontmatter.name) {
    return "its name is not the last part of its path"
  }
  if (entry.resources === "dynamic") return undefined
  const uris = new Set(entry.resources.map(({ uri }) => uri))
  if (uris.size !== entry.resources.length) return "it names a file twice"
  if (!uris.has(entry.uri)) return `its files lack ${manifest}`
  return entry.resources.every(({ uri }) => uri.startsWith(`${root}/`))
    ? undefined
    : "it names files that are not its own"
}

/**
 * Whether an entry can be used.
 *
 * @category guards
 * @since 0.1.0
 */
export const isEntry = (entry: unknown): entry is Skill => fault(entry) === undefined

/**
 * The frontmatter of the text of a `SKILL.md`; a failure says in one line what is wrong with it. Up to 64 KiB of it are
 * read.
 *
 * **Example** (Reading a skill)
 *
 * ```ts
 * import { Skills } from "@mcpfx/schema"
 * import { Result } from "effect"
 *
 * const text = "---\nname: tidy\ndescription: Tidies up\n---\n\n# Tidy\n"
 * Skills.frontmatter(text) // => Result.succeed({ name: "tidy", description: "Tidies up" })
 * ```
 *
 * @category decoding
 * @since 0.1.0
 */
export const frontmatter = (text: string): Result.Result<Frontmatter, string> =>
  Result.flatMap(
    Frontmatter_.parse(text),
    (value): Result.Result<Frontmatter, string> =>
      isFrontmatter(value) && value.name !== "" && value.description !== ""
        ? Result.succeed(value)
        : Result.fail("the frontmatter has no name, or no description")
  )
