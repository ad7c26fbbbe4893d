import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"
import type { InvalidShape, NotificationCodec, RequestCodec, Revision } from "../src/Revision.ts"
import * as Revisions from "../src/Revisions.ts"
import { official } from "./support/arbitrary.ts"
import { damaged } from "./support/mutate.ts"
import { faults, has, isMap, notificationNames, requestNames } from "./support/official.ts"

const runs = Number(process.env["MCPFX_RUNS"] ?? 60)

interface Side {
  readonly title: string
  /** The definition in the specification's schema. */
  readonly name: string
  readonly method: string
  readonly of: "params" | "result"
  /** Takes the part in question out of what the definition describes, and puts it back. */
  readonly inner: (whole: unknown) => unknown
  readonly outer: (inner: unknown) => unknown
  readonly decode: (wire: unknown) => Result.Result<unknown, InvalidShape>
  readonly encode: (value: unknown) => unknown
}

const params = (whole: unknown): unknown => isMap(whole) ? whole["params"] : undefined

const paramsSide = (
  codec: RequestCodec<unknown, unknown> | NotificationCodec<unknown>,
  name: string,
  id: boolean
): Side => ({
  title: `${codec.name} params`,
  name,
  method: codec.name,
  of: "params",
  inner: params,
  outer: (inner) => ({
    jsonrpc: "2.0",
    ...(id ? { id: 1 } : {}),
    method: codec.name,
    ...(inner === undefined ? {} : { params: inner })
  }),
  decode: codec.decodeParams,
  encode: codec.encodeParams
})

const resultSide = (codec: RequestCodec<unknown, unknown>, name: string, modern: boolean): Side => {
  const resultType = name === "InputRequiredResult" ? "input_required" : "complete"
  return {
    title: `${codec.name} ${name}`,
    name,
    method: codec.name,
    of: "result",
    // The schema leaves `resultType` open; here it is the one that goes with the definition.
    inner: (whole) =>
      modern && isMap(whole) && "resultType" in whole
        ? name === "InputRequiredResult" ? { requestState: "s", ...whole, resultType } : { ...whole, resultType }
        : whole,
    outer: (inner) => inner,
    decode: codec.decodeResult,
    encode: codec.encodeResult
  }
}

const sides = (revision: Revision): ReadonlyArray<Side> => {
  const modern = revision.era === "modern"
  return [
    ...[...revision.requests.keys()].flatMap((method) => {
      const codec = revision.requestByName(method)
      const [request, ...results] = requestNames[method] ?? []
      if (codec === undefined || request === undefined) throw new Error(`no ${method}`)
      return [
        paramsSide(codec, request, true),
        ...results.filter((name) => has(revision.version, name)).map((name) => resultSide(codec, name, modern))
      ]
    }),
    ...[...revision.notifications.keys()].map((method) => {
      const codec = revision.notificationByName(method)
      const name = notificationNames[method]
      if (codec === undefined || name === undefined) throw new Error(`no ${method}`)
      return paramsSide(codec, name, false)
    })
  ]
}

const message = (result: Result.Result<unknown, InvalidShape>): string =>
  Result.isFailure(result) ? result.failure.message() : ""

/** What is written otherwise than it was read, on purpose. */
const normalized = (side: Side, value: unknown): unknown => {
  if (!isMap(value)) return value
  // Only an accepted form has content (ELI-09).
  if (side.name === "ElicitResult" && value["action"] !== "accept") {
    const { content: _, ...rest } = value
    return rest
  }
  return value
}

/** What the specification's schema refuses and is read here all the same, with the reason. */
const exceptions: ReadonlyArray<{
  readonly reason: string
  readonly covers: (side: Side, at: string, by: unknown, revision: Revision) => boolean
}> = [
  {
    reason: "[SCH-09] null stands for an absent member in results",
    covers: (side, _at, by) => side.of === "result" && by === null
  },
  {
    reason:
      "[RPC-14] [CCH-06] a result without resultType is complete, without hints is not kept, with a negative ttl is stale",
    covers: (side, at, by) =>
      side.of === "result" &&
      ((by === "(gone)" && /^(resultType|ttlMs|cacheScope)$/.test(at)) || (at === "ttlMs" && by === 1.5))
  },
  {
    reason: "[SCH-14] a call result without content has none",
    covers: (side, at, by) =>
      by === "(gone)" && ((side.name === "CallToolResult" && at === "content") ||
        (side.method === "tools/call" && side.name === "CreateTaskResult" && at === "task"))
  },
  {
    reason: "[SCH-08] a block of an unknown type is kept as it is",
    covers: (side, at, by) => side.of === "result" && /(^|\.)content(\.\d+)?\.type$/.test(at) && typeof by === "string"
  },
  {
    reason: "[SCH-15] structured content that is no object is passed on",
    covers: (side, at) => side.of === "result" && /(^|\.)structuredContent$/.test(at)
  },
  {
    reason: "[JSC-07] the schemas of tools are kept as they are, but for the type of an input's root",
    covers: (side, at) =>
      /^(ListToolsResult|CreateMessageRequest|InputRequiredResult)$/.test(side.name) &&
      /(input|output)Schema\.(properties|required|\$schema|type)|outputSchema$/.test(at) &&
      !at.endsWith("inputSchema.type")
  },
  {
    reason: "[MRT-10] answers of a round are checked by who asked, extra ones are ignored",
    covers: (side, at) => side.of === "params" && /^inputResponses($|\.)/.test(at)
  },
  {
    reason: "[META-10] the identity of a server is for display: a wrong one is no identity",
    covers: (side, at) => side.of === "result" && at.startsWith("_meta.io.modelcontextprotocol/serverInfo")
  },
  {
    reason: "[META-14] [SUB-07] what names no subscription belongs to none",
    covers: (side, at) =>
      at === "_meta.io.modelcontextprotocol/subscriptionId" ||
      (side.name === "SubscriptionsListenResult" && at === "_meta")
  },
  {
    reason: "[SMP-07] several blocks, and [ELI-09] lists, are read from older peers too",
    covers: (side, at, by) =>
      (side.name === "CreateMessageResult" && at === "content" && Array.isArray(by)) ||
      (side.name === "ElicitResult" && at.startsWith("content.") && Array.isArray(by))
  }
]

const accepted = (side: Side, at: string, by: unknown, revision: Revision): boolean =>
  exceptions.some((exception) => exception.covers(side, at, by, revision))

for (const revision of Revisions.all) {
  describe(`${revision.version} and the schema of the specification`, () => {
    for (const side of sides(revision)) {
      it(`[RPC-01] ${side.title}: what the specification allows is read and written back as it was`, () => {
        fc.assert(
          fc.property(official(revision.version, side.name), (whole) => {
            const wire = side.inner(whole)
            const read = side.decode(wire)
            assert.isTrue(Result.isSuccess(read), message(read))
            const written = side.encode(Result.getOrThrow(read))
            assert.deepStrictEqual(written, normalized(side, wire ?? {}))
            assert.deepStrictEqual(faults(revision.version, side.name, side.outer(written)), [])
          }),
          { numRuns: runs }
        )
      })

      it(`[RPC-01] ${side.title}: what the specification refuses is refused, but for named exceptions`, () => {
        fc.assert(
          fc.property(
            official(revision.version, side.name).chain((whole) => {
              const wire = side.inner(whole)
              return damaged(wire) ?? fc.constant({ value: wire, at: "", by: undefined })
            }),
            ({ at, by, value }) => {
              if (faults(revision.version, side.name, side.outer(value)).length === 0) return
              if (accepted(side, at, by, revision)) return
              assert.isTrue(Result.isFailure(side.decode(value)), `${at} by ${JSON.stringify(by)}`)
            }
          ),
          { numRuns: 3 * runs }
        )
      })
    }
  })
}
