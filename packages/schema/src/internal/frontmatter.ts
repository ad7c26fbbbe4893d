/** The YAML at the head of a `SKILL.md`, as JSON. */
import * as Yaml from "effect/encoding/Yaml"
import * as Result from "effect/Result"
import { isJsonObject, type JsonObject } from "../JsonRpc.ts"

/** Characters of frontmatter that are read. */
const maxLength = 65_536
/** Values that it may hold, those that an alias repeats counted each time. */
const maxValues = 10_000
const maxDepth = 64

const block = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)(?:\r?\n)?---[ \t]*(?:\r?\n|$)/

class Unfit {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

/** Copies what is JSON; aliases that repeat each other could make more of it than there is room for. */
const copier = () => {
  let values = 0
  const copy = (value: unknown, depth: number): unknown => {
    if (++values > maxValues || depth > maxDepth) throw new Unfit("the frontmatter has too many values")
    if (Array.isArray(value)) return value.map((one) => copy(one, depth + 1))
    if (isJsonObject(value)) {
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, copy(one, depth + 1)]))
    }
    if (value === null || typeof value === "string" || typeof value === "boolean") return value
    if (typeof value === "number" && Number.isFinite(value)) return value
    throw new Unfit("the frontmatter has a value that JSON has no words for")
  }
  return (value: unknown): unknown => copy(value, 0)
}

/** What stands between the first two lines of `---`; a failure says why there is nothing. */
export const parse = (text: string): Result.Result<JsonObject, string> => {
  const head = text.slice(0, maxLength)
  const source = block.exec(head)?.[1]
  if (source === undefined) {
    return Result.fail(text.length > maxLength ? "the frontmatter is too long" : "it does not begin with frontmatter")
  }
  const parsed = Result.try({
    try: () => copier()(Yaml.parse(source)),
    catch: (thrown) => thrown instanceof Unfit ? thrown.reason : "the frontmatter is not YAML"
  })
  return Result.flatMap(
    parsed,
    (value) => isJsonObject(value) ? Result.succeed(value) : Result.fail("the frontmatter is not a mapping")
  )
}
