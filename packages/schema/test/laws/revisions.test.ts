import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { isJsonObject, type JsonObject } from "../../src/JsonRpc.ts"
import * as Meta from "../../src/Meta.ts"
import type * as Method from "../../src/Method.ts"
import * as Methods from "../../src/Methods.ts"
import type { InvalidShape, Revision } from "../../src/Revision.ts"
import * as Revisions from "../../src/Revisions.ts"
import { faults, has, isMap, notificationNames, requestNames } from "../support/official.ts"

const runs = { arbitrary: { runs: Number(process.env["MCPFX_RUNS"] ?? 40), size: 3, maxDiscards: 10_000 } }

const text = (result: Result.Result<unknown, InvalidShape>): string =>
  Result.isFailure(result) ? result.failure.message() : ""

const survives = (
  decode: (wire: unknown) => Result.Result<unknown, InvalidShape>,
  encode: (value: unknown) => unknown,
  wire: unknown
): void => {
  const read = decode(wire)
  assert.isTrue(Result.isSuccess(read), text(read))
  const written = encode(Result.getOrThrow(read))
  assert.deepStrictEqual(written, wire)
  // What is written is read to the same value again.
  assert.deepStrictEqual(Result.getOrThrow(decode(written)), Result.getOrThrow(read))
}

/** Content beside another action than accept is left out when it is written (ELI-09). */
const meaningful = (wire: unknown): boolean =>
  !(isMap(wire) && typeof wire["action"] === "string" && wire["action"] !== "accept" && "content" in wire)

const named: ReadonlyArray<readonly [string, Revision]> = [
  ...Revisions.all.map((revision): readonly [string, Revision] => [revision.version, revision]),
  ["2026-07-28 with tasks", Revisions.withTasks(Revisions.newest)]
]

for (const [title, revision] of named) {
  describe(`round trips on ${title}`, () => {
    for (const name of revision.requests.keys()) {
      const codec = revision.requestByName(name)
      if (codec === undefined) throw new Error(name)
      it.prop(`[RPC-01] params of ${name}`, [codec.wire.params], ([wire]) => {
        survives(codec.decodeParams, codec.encodeParams, wire)
      }, runs)
      it.prop(`[RPC-06] result of ${name}`, [codec.wire.result], ([wire]) => {
        if (meaningful(wire)) survives(codec.decodeResult, codec.encodeResult, wire)
      }, runs)
    }
    for (const name of revision.notifications.keys()) {
      const codec = revision.notificationByName(name)
      if (codec === undefined) throw new Error(name)
      it.prop(`[RPC-09] params of ${name}`, [codec.wire.params], ([wire]) => {
        survives(codec.decodeParams, codec.encodeParams, wire)
      }, runs)
    }
  })
}

type AnyRequest = Method.RequestMethod<string, unknown, unknown>
type AnyNotification = Method.NotificationMethod<string, unknown>

const isMethod = (u: object): u is AnyRequest | AnyNotification => "kind" in u
const methods = Object.values(Methods).filter(isMethod)
const requests = methods.filter((method) => method.kind === "request")
const notifications = methods.filter((method) => method.kind === "notification")

const envelope = Meta.encodeEnvelope({ protocolVersion: "2026-07-28", clientCapabilities: {} })
/** With an envelope where there is one. What answers a round is opaque here, and checked where it was asked for. */
const withEnvelope = (revision: Revision, params: JsonObject): JsonObject => {
  const known = "inputResponses" in params ? { ...params, inputResponses: {} } : params
  return revision.era === "modern" ? Meta.merge(known, envelope) : known
}

/** What only the side that sends it can supply, and what does not exist on a revision in any form. */
const complete = (name: string, value: JsonObject): JsonObject =>
  name === "subscriptions/listen"
    ? { ...value, _meta: { "io.modelcontextprotocol/subscriptionId": 1 } }
    : name === "notifications/cancelled"
    ? { requestId: 1, ...value }
    : name === "tasks/cancel"
    ? { task: { taskId: "t", status: "cancelled", createdAt: "", lastUpdatedAt: "", ttlMs: null }, ...value }
    : value

/** A round on a revision without rounds, a task on one without tasks: a handler is never in a place to give them. */
const possible = (revision: Revision, { resultType }: JsonObject): boolean =>
  resultType === undefined || resultType === "complete" ||
  (resultType === "input_required" && revision.era === "modern") ||
  (resultType === "task" && revision.version === "2025-11-25")

describe("any neutral value is written as the specification of each revision allows", () => {
  for (const method of requests) {
    const [request, ...results] = requestNames[method.name] ?? []
    if (request === undefined) continue
    const on = Revisions.all.filter((revision) => revision.request(method) !== undefined)
    it.prop(`[LIF-18] params of ${method.name}`, [Arbitrary.schema(method.params)], ([params]) => {
      for (const revision of on) {
        if (!isJsonObject(params)) continue
        const written = revision.request(method)?.encodeParams(withEnvelope(revision, params))
        const message = { jsonrpc: "2.0", id: 1, method: method.name, params: written }
        assert.deepStrictEqual(
          faults(revision.version, request, message),
          [],
          `${revision.version} ${JSON.stringify(written)}`
        )
      }
    }, runs)
    it.prop(`[LIF-18] result of ${method.name}`, [Arbitrary.schema(method.result)], ([result]) => {
      for (const revision of on) {
        if (!isJsonObject(result) || !possible(revision, result)) continue
        const written = revision.request(method)?.encodeResult(complete(method.name, result))
        const found = results.filter((name) => has(revision.version, name)).map((name) =>
          faults(revision.version, name, written)
        )
        assert.isTrue(
          found.some((list) => list.length === 0),
          `${revision.version} ${JSON.stringify(written)} ${found.flat().join("\n")}`
        )
      }
    }, runs)
  }
  for (const method of notifications) {
    const name = notificationNames[method.name]
    if (name === undefined) continue
    const on = Revisions.all.filter((revision) => revision.notification(method) !== undefined)
    it.prop(`[LIF-18] params of ${method.name}`, [Arbitrary.schema(method.params)], ([params]) => {
      for (const revision of on) {
        if (!isJsonObject(params)) continue
        const written = revision.notification(method)?.encodeParams(complete(method.name, params))
        const message = { jsonrpc: "2.0", method: method.name, params: written }
        assert.deepStrictEqual(
          faults(revision.version, name, message),
          [],
          `${revision.version} ${JSON.stringify(written)}`
        )
      }
    }, runs)
  }
  for (const method of requests) {
    const codec = Revisions.newest.input(method)
    const [request, result] = requestNames[method.name] ?? []
    if (codec === undefined || request === undefined || result === undefined) continue
    it.prop(
      `[MRT-04] ${method.name} as asked for in a round, and its answer`,
      [Arbitrary.schema(method.params), Arbitrary.schema(method.result)],
      ([params, answer]) => {
        const asked = { method: method.name, params: codec.encodeParams(params) }
        assert.deepStrictEqual(faults("2026-07-28", request, asked), [], JSON.stringify(asked))
        if (isJsonObject(answer) && !possible(Revisions.newest, answer)) return
        const written = codec.encodeResult(answer)
        assert.deepStrictEqual(faults("2026-07-28", result, written), [], JSON.stringify(written))
      },
      runs
    )
  }
})

describe("the schemas of the neutral model", () => {
  for (const method of methods) {
    it.prop(
      `${method.name}: what a revision reads is of the neutral shape`,
      [Arbitrary.schema(method.params)],
      ([
        params
      ]) => {
        assert.isTrue(Schema.is(method.params)(params))
      },
      runs
    )
  }
})
