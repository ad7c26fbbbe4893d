/** Which fixture goes with which example on which revision. */
import type { Result, Schema } from "effect"
import { isJsonObject, type JsonObject } from "../../src/JsonRpc.ts"
import * as Meta from "../../src/Meta.ts"
import type { InvalidShape, Revision } from "../../src/Revision.ts"
import * as Revisions from "../../src/Revisions.ts"
import { type Example, examples } from "./examples.ts"
import { notificationNames, requestNames } from "./official.ts"

export interface Part {
  readonly shape: Schema.Codec<unknown, unknown>
  readonly decode: (wire: unknown) => Result.Result<unknown, InvalidShape>
  readonly encode: (value: unknown) => JsonObject
  /** Definitions of the specification of which the wire value is one; empty for extensions. */
  readonly names: ReadonlyArray<string>
  readonly asked: boolean
}

const partOf = (revision: Revision, { method, part }: Example): Part | undefined => {
  if (method.kind === "notification") {
    const codec = revision.notificationByName(method.name)
    const name = notificationNames[method.name]
    return codec && {
      shape: codec.wire.params,
      decode: codec.decodeParams,
      encode: codec.encodeParams,
      names: name === undefined ? [] : [name],
      asked: false
    }
  }
  const codec = revision.requestByName(method.name) ?? revision.input(method)
  if (codec === undefined) return undefined
  const asked = !revision.requests.has(method.name)
  const [request, ...results] = requestNames[method.name] ?? []
  return part === "params"
    ? {
      shape: codec.wire.params,
      decode: codec.decodeParams,
      encode: codec.encodeParams,
      names: request === undefined ? [] : [request],
      asked
    }
    : { shape: codec.wire.result, decode: codec.decodeResult, encode: codec.encodeResult, names: results, asked }
}

const envelope = Meta.encodeEnvelope({
  protocolVersion: "2026-07-28",
  clientCapabilities: { elicitation: {} },
  clientInfo: { name: "example-client", version: "1.2.3" },
  logLevel: "info"
})

/** What is written of an example on a revision. */
export const written = (revision: Revision, example: Example, { asked, encode }: Part): JsonObject =>
  revision.era === "modern" && example.part === "params" && example.method.kind === "request" && !asked &&
    isJsonObject(example.value)
    ? encode(Meta.merge(example.value, envelope))
    : encode(example.value)

export const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : isJsonObject(value)
    ? Object.fromEntries(
      Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map(([key, item]) => [key, sorted(item)])
    )
    : value

const outcomes: Readonly<Record<string, (revision: Revision, tasks: boolean, method: string) => boolean>> = {
  round: (revision) => revision.era === "modern",
  task: (revision, tasks, method) => revision.version === "2025-11-25" || (tasks && method === "tools/call")
}

export const folders: ReadonlyArray<readonly [folder: string, revision: Revision, tasks: boolean]> = [
  ...Revisions.all.map((revision): readonly [string, Revision, boolean] => [revision.version, revision, false]),
  ["2026-07-28+tasks", Revisions.withTasks(Revisions.newest), true]
]

export const fileOf = (example: Example): string =>
  `${example.method.name.replaceAll("/", ".")}.${example.part}${example.name === "full" ? "" : `.${example.name}`}.json`

export const root = new URL("../golden/", import.meta.url)

export interface Case {
  readonly example: Example
  readonly part: Part
}

export const casesOf = (revision: Revision, tasks: boolean): ReadonlyArray<Case> =>
  examples.flatMap((example) => {
    const part = partOf(revision, example)
    if (part === undefined || !(outcomes[example.name]?.(revision, tasks, example.method.name) ?? true)) return []
    // What the extension leaves as it is has its fixture beside the other one.
    const same = tasks && partOf(Revisions.newest, example) !== undefined && example.name !== "task" &&
      !/listen|acknowledged/.test(example.method.name)
    return same ? [] : [{ example, part }]
  })
