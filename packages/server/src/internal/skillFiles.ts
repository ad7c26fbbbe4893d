/** Files made into a skill: their URIs, their types, their digests, and the entry that names them. */
import * as Skills from "@mcpfx/schema/Skills"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { InvalidSkill } from "../ServerError.ts"
import type { Content, Served, ServedFile } from "../ServerSkills.ts"

const types: ReadonlyMap<string, string> = new Map([
  ["md", "text/markdown"],
  ["txt", "text/plain"],
  ["html", "text/html"],
  ["css", "text/css"],
  ["csv", "text/csv"],
  ["js", "text/javascript"],
  ["mjs", "text/javascript"],
  ["py", "text/x-python"],
  ["sh", "application/x-sh"],
  ["json", "application/json"],
  ["yaml", "application/yaml"],
  ["yml", "application/yaml"],
  ["xml", "application/xml"],
  ["pdf", "application/pdf"],
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["gif", "image/gif"],
  ["svg", "image/svg+xml"],
  ["webp", "image/webp"]
])

const typeOf = (name: string, isText: boolean): string =>
  types.get(name.slice(name.lastIndexOf(".") + 1).toLowerCase()) ?? (isText ? "text/plain" : "application/octet-stream")

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Bytes that are a text are served as one; its bytes are the same again (SKL-02). */
const textOf = (bytes: Uint8Array): string | undefined =>
  bytes.includes(0) ? undefined : Result.getOrUndefined(Result.try(() => decoder.decode(bytes)))

/** A path from the outside stays below what it is put under. */
const segments = (path: string): ReadonlyArray<string> | undefined => {
  const parts = path.split("/")
  const fits = parts.every((part) => part !== "" && part !== "." && part !== ".." && part.isWellFormed())
  return fits ? parts : undefined
}

const encoded = (parts: ReadonlyArray<string>): string => parts.map(encodeURIComponent).join("/")

interface Made {
  readonly served: ServedFile
  readonly listed: Skills.File | undefined
}

const fileOf = Effect.fnUntraced(function*(path: string, uri: string, content: Content) {
  if (Effect.isEffect(content)) {
    const served: ServedFile = { uri, mimeType: typeOf(uri, true), content, size: undefined }
    return { served, listed: undefined }
  }
  if (typeof content === "string" && !content.isWellFormed()) {
    return yield* new InvalidSkill({ path, reason: `${uri} has text that is not Unicode` })
  }
  const bytes = typeof content === "string" ? encoder.encode(content) : content
  const text = typeof content === "string" ? content : textOf(content)
  const digest = yield* Digest.Digest
  const hex = yield* digest.digestHex(Digest.sha256, bytes)
  const made: Made = {
    served: { uri, mimeType: typeOf(uri, text !== undefined), content: text ?? bytes, size: bytes.length },
    listed: { uri, digest: `sha256:${hex}`, size: bytes.length }
  }
  return made
})

const manifestOf = (
  path: string,
  files: ReadonlyMap<string, Content>
): Result.Result<Skills.Frontmatter, InvalidSkill> => {
  const invalid = (reason: string) => Result.fail(new InvalidSkill({ path, reason }))
  const content = files.get(Skills.manifest)
  const text = content instanceof Uint8Array ? textOf(content) : content
  if (typeof text !== "string") return invalid(`it has no ${Skills.manifest} that is a text`)
  const frontmatter = Skills.frontmatter(text)
  if (Result.isFailure(frontmatter)) return invalid(`${Skills.manifest}: ${frontmatter.failure}`)
  const { name } = frontmatter.success
  if (!Skills.isName(name)) return invalid("its name is not 1 to 64 small letters, digits and single hyphens")
  return path.slice(path.lastIndexOf("/") + 1) === name
    ? Result.succeed(frontmatter.success)
    : invalid(`its name is "${name}", its path ends otherwise`)
}

const sum = (files: ReadonlyArray<Made>): number => files.reduce((total, { served }) => total + (served.size ?? 0), 0)

/** A skill of these files. */
export const make = Effect.fnUntraced(function*(
  path: string,
  files: ReadonlyMap<string, Content>,
  scheme = "skill://"
): Effect.fn.Return<Served, InvalidSkill, Digest.Digest> {
  const invalid = (reason: string) => new InvalidSkill({ path, reason })
  const parts = segments(path)
  if (parts === undefined) return yield* invalid("its path has a part that is empty or leads elsewhere")
  if (files.size > Skills.limits.resources) return yield* invalid(`it has more than ${Skills.limits.resources} files`)
  const frontmatter = yield* Effect.fromResult(manifestOf(path, files))
  const root = `${scheme}${encoded(parts)}`
  const made: Array<Made> = []
  for (const [name, content] of files) {
    const own = segments(name)
    if (own === undefined) return yield* invalid(`the name of a file leads elsewhere: ${name}`)
    made.push(yield* fileOf(path, `${root}/${encoded(own)}`, content))
  }
  if (sum(made) > Skills.limits.bytes) return yield* invalid(`it has more than ${Skills.limits.bytes} bytes`)
  const listed = made.flatMap(({ listed }) => listed === undefined ? [] : [listed])
  return {
    entry: {
      uri: `${root}/${Skills.manifest}`,
      frontmatter,
      resources: listed.length < made.length ? "dynamic" : listed
    },
    files: made.map(({ served }) => served)
  }
})
