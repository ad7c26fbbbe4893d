/**
 * Reading a list of which some items are wrong: the others stay (SCH-05, SCH-06 of field practice).
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import { isJsonObject, type JsonObject } from "./JsonRpc.ts"
import type { InvalidShape, RequestCodec } from "./Revision.ts"

/**
 * An item that was not as it should be.
 *
 * @category models
 * @since 0.1.0
 */
export interface Fault {
  readonly index: number
  /** The item's name, when it has one that can be read. */
  readonly name: string | undefined
  readonly reason: string
  /** Whether it could be put right; else it is left out. */
  readonly repaired: boolean
}

/**
 * A list with what was wrong about it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Salvaged<out R> {
  readonly result: R
  readonly faults: ReadonlyArray<Fault>
}

const lists: ReadonlyMap<string, string> = new Map([
  ["tools/list", "tools"],
  ["resources/list", "resources"],
  ["resources/templates/list", "resourceTemplates"],
  ["prompts/list", "prompts"],
  ["tasks/list", "tasks"]
])

/** A tool whose input schema does not say that its root is an object is taken to mean it. */
const repair = (item: unknown): JsonObject | undefined => {
  if (!isJsonObject(item)) return undefined
  const schema = item["inputSchema"]
  return isJsonObject(schema) && schema["type"] === undefined
    ? { ...item, inputSchema: { ...schema, type: "object" } }
    : undefined
}

const nameOf = (item: unknown): string | undefined =>
  isJsonObject(item) && typeof item["name"] === "string" ? item["name"] : undefined

/**
 * Reads the result of a list method. Where an item does not fit, it is repaired or left out and told about; what is wrong
 * with the list itself still fails.
 *
 * **Example** (One bad tool among good ones)
 *
 * ```ts
 * import { Methods, Revisions, Salvage } from "@mcpfx/schema"
 * import { Result } from "effect"
 *
 * const codec = Revisions.newestLegacy.request(Methods.ToolsList)
 * const wire = { tools: [{ name: "a", inputSchema: { type: "object" } }, { name: "b", inputSchema: null }] }
 * codec && Result.getOrThrow(Salvage.list(codec, wire)).faults.map((fault) => fault.name) // => ["b"]
 * ```
 *
 * @category decoding
 * @since 0.1.0
 */
export const list = <P, R>(codec: RequestCodec<P, R>, wire: unknown): Result.Result<Salvaged<R>, InvalidShape> => {
  const whole = codec.decodeResult(wire)
  if (Result.isSuccess(whole)) return Result.succeed({ result: whole.success, faults: [] })
  const key = lists.get(codec.name)
  const items = key !== undefined && isJsonObject(wire) ? wire[key] : undefined
  if (key === undefined || !isJsonObject(wire) || !Array.isArray(items)) return Result.fail(whole.failure)
  const one = (item: unknown) => codec.decodeResult({ ...wire, [key]: [item] })
  const kept: Array<unknown> = []
  const faults: Array<Fault> = []
  for (const [index, item] of items.entries()) {
    const read = one(item)
    if (Result.isSuccess(read)) {
      kept.push(item)
      continue
    }
    const repaired = repair(item)
    const saved = repaired !== undefined && Result.isSuccess(one(repaired))
    if (saved) kept.push(repaired)
    const reason = read.failure.message().replaceAll(`${key}.0.`, "")
    faults.push({ index, name: nameOf(item), reason, repaired: saved })
  }
  return Result.map(codec.decodeResult({ ...wire, [key]: kept }), (result) => ({ result, faults }))
}
