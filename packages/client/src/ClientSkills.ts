/**
 * Skills of a server, for hosts: what there is, and their files, each held against the entry that describes it.
 *
 * Nothing is read before it is asked for (SKL-03). A skill is known by its server and its URI together; its text comes from
 * outside and is to be treated so: show whose it is, run nothing because it says so, and bind a user's consent to the
 * `resources` of the entry that was shown.
 *
 * @since 0.1.0
 */
import type * as Resource from "@mcpfx/schema/Resource"
import * as Skills from "@mcpfx/schema/Skills"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as ClientExtension from "./ClientExtension.ts"
import { McpClient } from "./McpClient.ts"
import { BadAnswer, fail, type McpClientError, NotOffered } from "./McpClientError.ts"
import * as Pages from "./Pages.ts"

/**
 * A file is not what the entry of its skill says: another length, other bytes, other frontmatter, or a file that the entry
 * does not name. It may have changed since: `get` has the current entry, which is another one and wants a new consent.
 *
 * @category errors
 * @since 0.1.0
 */
export class SkillUnverified extends Schema.TaggedError<SkillUnverified>("@mcpfx/client/SkillUnverified")(
  "SkillUnverified",
  { uri: Schema.String, reason: Schema.Literals(["size", "digest", "frontmatter", "unlisted"]) }
) {
  override get message(): string {
    return `${this.uri} is not what the entry of its skill says (${this.reason})`
  }
}

/**
 * A file of a skill, as it was read.
 *
 * @category models
 * @since 0.1.0
 */
export interface File {
  readonly uri: string
  readonly mimeType: string | undefined
  readonly bytes: Uint8Array
  /** `undefined` where the server sent bytes. */
  readonly text: string | undefined
}

/** The settings of the server, or why nothing is asked for. */
const offered = (what: string) =>
  Effect.flatMap(
    ClientExtension.server(Skills.Extension),
    Option.match({
      onNone: () => Effect.fail(fail(new NotOffered({ what }))),
      onSome: (settings) => Effect.succeed(settings)
    })
  )

const bounds = (options: Partial<Pages.Bounds> | undefined): Pages.Bounds => ({ ...Pages.defaults, ...options })

/**
 * The skills that the server lists, all pages of them, within the bounds of lists. Entries that are none are left out, and
 * logged. A server may serve skills that it does not list: {@link get} finds them.
 *
 * **Example** (What a server can teach)
 *
 * ```ts
 * import { ClientSkills } from "@mcpfx/client"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const [skill] = yield* ClientSkills.list()
 *   return skill === undefined ? undefined : yield* ClientSkills.load(skill)
 * })
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const list = Effect.fn("ClientSkills.list")(function*(
  options?: Partial<Pages.Bounds>
): Effect.fn.Return<ReadonlyArray<Skills.Skill>, McpClientError, McpClient> {
  yield* offered(Skills.List.name)
  const client = yield* McpClient
  const { info } = yield* client.server
  const entries = yield* Pages.all<unknown>({
    server: info?.name ?? "",
    bounds: bounds(options),
    key: (entry) => Skills.isEntry(entry) ? entry.uri : JSON.stringify(entry),
    page: (cursor) =>
      Effect.map(
        client.request(Skills.List, cursor === undefined ? {} : { cursor }),
        ({ nextCursor, skills }) => ({ items: skills, nextCursor })
      )
  })
  const skills = entries.filter(Skills.isEntry)
  if (skills.length < entries.length) {
    yield* Effect.logWarning(`left out ${entries.length - skills.length} entries that are no skills`)
  }
  return skills
})

/**
 * The entry of one skill, listed or not, by the URI of its `SKILL.md`.
 *
 * @category getters
 * @since 0.1.0
 */
export const get = Effect.fn("ClientSkills.get")(function*(
  uri: string
): Effect.fn.Return<Skills.Skill, McpClientError, McpClient> {
  yield* offered(Skills.Get.name)
  const client = yield* McpClient
  const { skill } = yield* client.request(Skills.Get, { uri })
  const fault = skill.uri === uri ? Skills.fault(skill) : "it is of another URI"
  return fault === undefined ? skill : yield* fail(new BadAnswer({ detail: fault }), Skills.Get.name)
})

const encoder = new TextEncoder()

const fileOf = (uri: string, { contents }: Resource.ReadResult): File | undefined => {
  const content = contents.find((one) => one.uri === uri) ?? contents[0]
  if (content === undefined) return undefined
  const { mimeType } = content
  if ("text" in content) return { uri, mimeType, bytes: encoder.encode(content.text), text: content.text }
  const bytes = Base64.decode(content.blob)
  return Result.isSuccess(bytes) ? { uri, mimeType, bytes: bytes.success, text: undefined } : undefined
}

const verified = Effect.fnUntraced(function*(skill: Skills.Skill, file: File) {
  if (skill.resources === "dynamic") return file
  const { uri } = file
  const listed = skill.resources.find((one) => one.uri === uri)
  if (listed === undefined) return yield* new SkillUnverified({ uri, reason: "unlisted" })
  if (listed.size !== file.bytes.length) return yield* new SkillUnverified({ uri, reason: "size" })
  const digest = yield* Digest.Digest
  const hex = yield* digest.digestHex(Digest.sha256, file.bytes)
  return listed.digest === `sha256:${hex}` ? file : yield* new SkillUnverified({ uri, reason: "digest" })
})

/** What the file of a skill is called: by its URI, or by its path below the skill's directory. */
const uriOf = (skill: Skills.Skill, file: string): string =>
  file.includes("://") ? file : `${Skills.rootOf(skill.uri) ?? skill.uri}/${file}`

/**
 * A file of a skill, by its path below the skill's directory or by its URI, held against the entry. A file that the entry
 * does not name is not asked for; where the files are made when they are read, nothing can be held against anything.
 *
 * @category getters
 * @since 0.1.0
 */
export const read = Effect.fn("ClientSkills.read")(function*(
  skill: Skills.Skill,
  file: string
): Effect.fn.Return<File, McpClientError | SkillUnverified, McpClient> {
  const uri = uriOf(skill, file)
  const root = Skills.rootOf(skill.uri) ?? skill.uri
  const isOwn = skill.resources === "dynamic"
    ? uri.startsWith(`${root}/`) && !uri.split("/").includes("..")
    : skill.resources.some((one) => one.uri === uri)
  if (!isOwn) return yield* new SkillUnverified({ uri, reason: "unlisted" })
  const client = yield* McpClient
  const content = fileOf(uri, yield* client.readResource(uri))
  if (content === undefined) return yield* fail(new BadAnswer({ detail: "the file has no contents" }))
  return yield* Effect.provide(verified(skill, content), Digest.layerWebCrypto)
})

/** Equal as JSON: the order of members does not matter. */
const isEqual = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((one, index) => isEqual(one, b[index]))
  }
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null || Array.isArray(b)) return false
  const [left, right] = [new Map(Object.entries(a)), new Map(Object.entries(b))]
  return left.size === right.size &&
    [...left].every(([key, value]) => right.has(key) && isEqual(value, right.get(key)))
}

/**
 * The text of a skill's `SKILL.md`, held against the entry: its length, its digest, and its frontmatter, member by member. A
 * skill that fails here must not be used.
 *
 * @category getters
 * @since 0.1.0
 */
export const load = Effect.fn("ClientSkills.load")(function*(
  skill: Skills.Skill
): Effect.fn.Return<string, McpClientError | SkillUnverified, McpClient> {
  const { text, uri } = yield* read(skill, skill.uri)
  const own = text === undefined ? undefined : Skills.frontmatter(text)
  return text !== undefined && own !== undefined && Result.isSuccess(own) && isEqual(own.success, skill.frontmatter)
    ? text
    : yield* new SkillUnverified({ uri, reason: "frontmatter" })
})

/**
 * What stands in a directory of resources, all pages of it; where the server does not read directories, it is not asked.
 *
 * @category getters
 * @since 0.1.0
 */
export const directory = Effect.fn("ClientSkills.directory")(function*(
  uri: string,
  options?: Partial<Pages.Bounds>
): Effect.fn.Return<ReadonlyArray<Resource.Descriptor>, McpClientError, McpClient> {
  const { directoryRead } = yield* offered(Skills.ReadDirectory.name)
  if (directoryRead !== true) return yield* fail(new NotOffered({ what: Skills.ReadDirectory.name }))
  const client = yield* McpClient
  const { info } = yield* client.server
  return yield* Pages.all<Resource.Descriptor>({
    server: info?.name ?? "",
    bounds: bounds(options),
    key: (child) => child.uri,
    page: (cursor) =>
      Effect.map(
        client.request(Skills.ReadDirectory, cursor === undefined ? { uri } : { uri, cursor }),
        ({ nextCursor, resources }) => ({ items: resources, nextCursor })
      )
  })
})
