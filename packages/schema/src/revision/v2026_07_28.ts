/**
 * Revision 2026-07-28: every request stands alone, rounds instead of requests to the client, listening, keeping results.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Capabilities from "../Capabilities.ts"
import * as Elicitation from "../Elicitation.ts"
import * as capabilities from "../internal/capabilities.ts"
import { extend, toRevision } from "../internal/definition.ts"
import { acceptedOnly, block } from "../internal/downgrade.ts"
import { JsonObject, JsonValue } from "../internal/json.ts"
import { isModernMeta, ModernMeta } from "../internal/modernMeta.ts"
import * as notifications from "../internal/notifications.ts"
import { compose, members, omit, type Project, same } from "../internal/project.ts"
import * as requests from "../internal/requests.ts"
import * as rounds from "../internal/rounds.ts"
import * as taskRequests from "../internal/taskRequests.ts"
import type { Revision } from "../Revision.ts"
import * as Tool from "../Tool.ts"
import * as base from "./v2025_11_25.ts"

const Struct = Schema.Struct

const result = {
  resultType: Schema.Literal("complete"),
  _meta: Schema.optionalKey(JsonObject)
}

const complete: Project = (self) => self["resultType"] === undefined ? { ...self, resultType: "complete" } : self

const isTtl = (ttl: unknown): ttl is number => typeof ttl === "number" && Number.isSafeInteger(ttl) && ttl >= 0

const wholeMillis = (ttl: unknown): number => typeof ttl === "number" && ttl > 0 ? Math.floor(ttl) : 0

/** Absent hints mean that the result is not to be kept (CCH-01, CCH-06). */
const keepable: Project = (self) => {
  const { cacheScope, resultType, ttlMs } = self
  return resultType !== undefined && cacheScope !== undefined && isTtl(ttlMs) ? self : {
    ...self,
    resultType: resultType ?? "complete",
    ttlMs: isTtl(ttlMs) ? ttlMs : wholeMillis(ttlMs),
    cacheScope: cacheScope ?? "private"
  }
}

const { execution: _, ...toolFields } = Tool.Descriptor.fields
const writeTool = omit("execution")

const { elicitationId: _e, task: _t, _meta: _m, ...page } = Elicitation.UrlParams.fields
const { task: _ft, _meta: _fm, ...form } = Elicitation.FormParams.fields
const { _meta: _am, ...answer } = Elicitation.Result.schema.fields
const { tasks: _ct, ...clientFields } = Capabilities.Client.schema.fields
const { tasks: _st, ...serverFields } = Capabilities.Server.schema.fields

/** What is asked for in a round carries neither task nor `_meta`. */
const bare = omit("task", "_meta")

const shapes = () => {
  const tool = Struct(toolFields)
  const writeBlock = block()
  const writeToolResult = members("content", writeBlock)
  const sample = base.sampleOf(
    JsonValue,
    (part) => part["type"] === "tool_result" ? writeToolResult(part) : writeBlock(part)
  )
  const { _meta: _sm, ...sampleParams } = sample.params
  return {
    requestMeta: { _meta: ModernMeta },
    isRequestMeta: isModernMeta,
    result: { fields: result, project: complete },
    cacheable: {
      fields: {
        ...result,
        ttlMs: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
        cacheScope: Schema.Literals(["public", "private"])
      },
      project: keepable
    },
    unread: same,
    call: {
      fields: {
        isError: Schema.optionalKey(Schema.Boolean),
        structuredContent: Schema.optionalKey(JsonValue)
      },
      project: same
    },
    task: { fields: {}, project: omit("task") },
    retry: {
      fields: { inputResponses: Schema.optionalKey(JsonObject), requestState: Schema.optionalKey(Schema.String) },
      project: same
    },
    client: { schema: Struct(clientFields), write: capabilities.client["2026-07-28"], read: same },
    server: { schema: Struct(serverFields), write: capabilities.server["2026-07-28"], read: same },
    tool: { schema: tool, write: writeTool, read: same },
    sample: {
      schema: Struct({ ...sampleParams, tools: Schema.optionalKey(Schema.Array(tool)) }),
      write: compose(bare, members("messages", sample.write), members("tools", writeTool)),
      read: bare
    },
    sampled: { schema: sample.result, write: compose(omit("resultType"), sample.write), read: same },
    elicit: {
      schema: Schema.Union([Struct(page), Struct(form)]),
      write: compose(bare, omit("elicitationId")),
      read: compose(bare, omit("elicitationId"))
    },
    elicited: {
      schema: Struct(answer),
      write: compose(omit("resultType", "_meta"), acceptedOnly),
      read: same
    }
  }
}

/** @category definitions @since 0.1.0 */
export const definition = extend(base.definition, {
  version: "2026-07-28",
  era: "modern",
  features: {
    structuredContent: "any",
    resourceNotFound: -32602,
    versionHeader: false,
    primingEvent: false
  },
  shapes,
  remove: [
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "sampling/createMessage",
    "roots/list",
    "elicitation/create",
    "tasks/get",
    "tasks/result",
    "tasks/list",
    "tasks/cancel",
    "notifications/initialized",
    "notifications/roots/list_changed",
    "notifications/elicitation/complete",
    "notifications/tasks/status"
  ],
  requests: [
    [requests.discover, "client"],
    [rounds.toolsCall, "client"],
    [rounds.resourcesRead, "client"],
    [rounds.promptsGet, "client"],
    [requests.subscriptionsListen, "client"]
  ],
  notifications: [
    [notifications.cancelled, "both"],
    [notifications.progress, "server"],
    [notifications.acknowledged, "server"]
  ],
  inputs: [
    [requests.sampling, "server"],
    [requests.rootsInput, "server"],
    [requests.elicitation, "server"]
  ]
})

/** The difference that the extension `io.modelcontextprotocol/tasks` makes. @category definitions @since 0.1.0 */
export const withTasksDefinition = extend(definition, {
  shapes: () => ({}),
  requests: [
    [rounds.toolsCallOrTask, "client"],
    [taskRequests.extensionGet, "client"],
    [taskRequests.extensionUpdate, "client"],
    [taskRequests.extensionCancel, "client"],
    [requests.subscriptionsListenTasks, "client"]
  ],
  notifications: [
    [taskRequests.extensionChanged, "server"],
    [notifications.acknowledgedTasks, "server"]
  ]
})

/**
 * @category revisions
 * @since 0.1.0
 */
export const v2026_07_28: Revision = toRevision(definition)

/**
 * The revision where both sides have opted in to the tasks extension (EXT-06, TKX-03).
 *
 * @category revisions
 * @since 0.1.0
 */
export const withTasks: Revision = toRevision(withTasksDefinition)
