/**
 * Skills as a layer: directories of instructions for agents, served as resources and listed with their digests.
 *
 * Skills come from values, or from a directory of the file system, which is read once, when the layer is built; a request
 * never reaches the file system, so that nothing but what was found there can be read.
 *
 * @since 0.1.0
 */
import { InvalidParams } from "@mcpfx/schema/McpError"
import * as ResourceContract from "@mcpfx/schema/ResourceContract"
import * as Skills from "@mcpfx/schema/Skills"
import { RequestContext } from "@mcpfx/session/RequestContext"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import type { CacheHint } from "./Entry.ts"
import * as SkillFiles from "./internal/skillFiles.ts"
import * as SkillTree from "./internal/skillTree.ts"
import * as Pages from "./Pages.ts"
import type { Registry } from "./Registry.ts"
import type { DuplicateEntry, InvalidSkill } from "./ServerError.ts"
import * as ServerExtension from "./ServerExtension.ts"
import { ServerLimits } from "./ServerLimits.ts"
import type { MethodOptions } from "./ServerMethod.ts"
import * as ServerResource from "./ServerResource.ts"

/**
 * What a file holds: its text, its bytes, or an effect that makes them anew at each read.
 *
 * @category models
 * @since 0.1.0
 */
export type Content = string | Uint8Array | Effect.Effect<string | Uint8Array>

/**
 * A file of a skill, as it is served.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServedFile {
  readonly uri: string
  readonly mimeType: string
  readonly content: Content
  /** `undefined` where it is made at each read. */
  readonly size: number | undefined
}

/**
 * A skill, as it is served.
 *
 * @category models
 * @since 0.1.0
 */
export interface Served {
  readonly entry: Skills.Skill
  readonly files: ReadonlyArray<ServedFile>
}

/**
 * What {@link skill} takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface SkillOptions {
  /** The part of the URIs before the path; `skill://` by default. */
  readonly scheme?: string | undefined
}

/**
 * A skill from values. `path` is where it stands among the server's skills, `/` between its parts; its last part is the name
 * in the frontmatter of `SKILL.md`. A file that is an effect is made at each read: there are no digests of such a skill, and
 * hosts may decline it. More than 512 files, or 16 MiB, are refused: no host need accept them.
 *
 * **Example** (A skill of two files)
 *
 * ```ts
 * import { ServerSkills } from "@mcpfx/server"
 * import { Effect } from "effect"
 *
 * const Tidy = ServerSkills.skill("team/tidy", {
 *   "SKILL.md": "---\nname: tidy\ndescription: Tidies up\n---\n\nFollow `references/rules.md`.\n",
 *   "references/rules.md": "# Rules\n"
 * })
 * const { entry } = await Effect.runPromise(Tidy)
 * entry.uri // => "skill://team/tidy/SKILL.md"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const skill = (
  path: string,
  files: Readonly<Record<string, Content>>,
  options: SkillOptions = {}
): Effect.Effect<Served, InvalidSkill> =>
  Effect.provide(SkillFiles.make(path, new Map(Object.entries(files)), options.scheme), Digest.layerWebCrypto)

/**
 * What {@link directory} takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface DirectoryOptions extends SkillOptions {
  /** Bytes of all skills together, which are kept in memory; 64 MiB by default. */
  readonly maxBytes?: number | undefined
  /** How many skills; 1,000 by default. */
  readonly maxSkills?: number | undefined
}

/**
 * The skills in a directory: every directory at or below it that holds a `SKILL.md`, nested ones too, each a skill of its
 * own.
 *
 * Files and directories whose names begin with a dot are left out, and so is what a symbolic link leads to outside of the
 * directory. A skill that is none fails the whole, and names itself.
 *
 * @category constructors
 * @since 0.1.0
 */
export const directory = (
  path: string,
  options: DirectoryOptions = {}
): Effect.Effect<ReadonlyArray<Served>, InvalidSkill | PlatformError, FileSystem.FileSystem | Path.Path> =>
  Effect.flatMap(
    SkillTree.read(path, options.maxBytes ?? 64 * 1024 * 1024, options.maxSkills ?? 1000),
    (found) =>
      Effect.forEach(
        found,
        ({ files, path }) => Effect.provide(SkillFiles.make(path, files, options.scheme), Digest.layerWebCrypto)
      )
  )

/**
 * What {@link layer} takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends Pick<MethodOptions, "visible" | "scopes"> {
  /** Whether directories can be read; `true` by default. */
  readonly directoryRead?: boolean | undefined
  /** For how long, and for whom, entries and files may be kept; not at all by default (CCH-01). */
  readonly cache?: CacheHint | undefined
}

const stale: CacheHint = { ttlMs: 0, scope: "private" }

/** Hints exist from 2026-07-28 on. */
const hinted = <A extends object>(result: A, { scope, ttlMs }: CacheHint) =>
  Effect.map(
    RequestContext,
    ({ revision }): A & { ttlMs?: number; cacheScope?: "public" | "private" } =>
      revision.era === "modern" ? { ...result, ttlMs, cacheScope: scope } : result
  )

const contractOf = ({ entry }: Served, file: ServedFile) => {
  const isManifest = file.uri === entry.uri
  return ResourceContract.make(file.uri, {
    name: isManifest ? entry.frontmatter.name : file.uri.slice(file.uri.lastIndexOf("/") + 1),
    ...(isManifest ? { description: entry.frontmatter.description } : undefined),
    mimeType: file.mimeType,
    ...(file.size === undefined ? undefined : { size: file.size })
  })
}

/**
 * Offers skills while the layer is open: their files as resources, `skills/list` and `skills/get`, and, unless told not to,
 * `resources/directory/read` (SKL-01, SKL-02). Where there are none, nothing is announced.
 *
 * **Example** (The skills of a directory, and one more)
 *
 * ```ts
 * import { ServerSkills } from "@mcpfx/server"
 * import { Effect, Layer } from "effect"
 *
 * const Tidy = ServerSkills.skill("tidy", { "SKILL.md": "---\nname: tidy\ndescription: Tidies up\n---\n" })
 * const SkillsLive = ServerSkills.layer(
 *   Effect.zipWith(ServerSkills.directory("./skills"), Tidy, (found, tidy) => [...found, tidy])
 * )
 * Layer.isLayer(SkillsLive) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <E, R>(
  skills: Effect.Effect<ReadonlyArray<Served>, E, R>,
  options: Options = {}
): Layer.Layer<never, E | DuplicateEntry, R | Registry> =>
  Layer.unwrap(Effect.map(skills, (served) => served.length === 0 ? Layer.empty : offering(served, options)))

/** A file that belongs to a skill and to one nested in it is one resource. */
const resources = (served: ReadonlyArray<Served>, options: Options) => {
  const known = new Set<string>()
  // The nested skill's own `SKILL.md` is named after it, so that the deepest come first.
  return [...served].sort((a, b) => b.entry.uri.length - a.entry.uri.length).flatMap((skill) =>
    skill.files.flatMap((file) => {
      if (known.has(file.uri)) return []
      known.add(file.uri)
      return [ServerResource.resource(contractOf(skill, file), file.content, {
        cache: typeof file.content === "string" || file.content instanceof Uint8Array ? options.cache : undefined,
        visible: options.visible,
        scopes: options.scopes
      })]
    })
  )
}

/** Without directories to read, that method is not there. */
const withoutDirectories = {
  ...Skills.Extension,
  requests: Skills.Extension.requests.filter((method) => method !== Skills.ReadDirectory)
}

const offering = (
  served: ReadonlyArray<Served>,
  options: Options
): Layer.Layer<never, DuplicateEntry, Registry> => {
  const cache = options.visible === undefined
    ? options.cache ?? stale
    : { ...options.cache ?? stale, scope: "private" as const }
  const sorted = served.map(({ entry }) => entry).sort((a, b) => a.uri < b.uri ? -1 : a.uri > b.uri ? 1 : 0)
  const byUri = new Map(sorted.map((entry) => [entry.uri, entry]))
  const directories = SkillTree.directories(
    served,
    (skill, file) => ResourceContract.toDescriptor(contractOf(skill, file))
  )
  const reads = options.directoryRead !== false
  const extension = ServerExtension.layer(reads ? Skills.Extension : withoutDirectories, {
    settings: reads ? { directoryRead: true } : {},
    visible: options.visible,
    scopes: options.scopes,
    handlers: {
      "skills/list": ({ cursor }) =>
        Effect.flatMap(ServerLimits, ({ pageSize: size }) =>
          Effect.flatMap(
            Effect.fromResult(Pages.page("skills", sorted, ({ uri }) => uri, { cursor, size })),
            ({ items, nextCursor }) =>
              hinted({ skills: items, ...(nextCursor === undefined ? undefined : { nextCursor }) }, cache)
          )),
      "skills/get": ({ uri }) => {
        const skill = byUri.get(uri)
        return skill === undefined
          ? Effect.fail(new InvalidParams({ detail: `No skill is served at ${uri}`, data: { uri } }))
          : hinted({ skill }, cache)
      },
      "resources/directory/read": ({ cursor, uri }) => {
        const children = directories.get(uri)
        if (children === undefined) {
          return Effect.fail(new InvalidParams({ detail: `${uri} is no directory`, data: { uri } }))
        }
        return Effect.flatMap(ServerLimits, ({ pageSize: size }) =>
          Effect.map(
            Effect.fromResult(Pages.page("directory", children, ({ uri }) => uri, { cursor, size })),
            ({ items, nextCursor }) => ({
              resources: items,
              ...(nextCursor === undefined ? undefined : { nextCursor })
            })
          ))
      }
    }
  })
  const files = resources(served, options)
  return Layer.mergeAll(extension, ...files)
}
