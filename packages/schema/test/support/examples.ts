/** One neutral value of every message, with every member it can have. */
import type * as Method from "../../src/Method.ts"
import * as Methods from "../../src/Methods.ts"
import type * as Prompt from "../../src/Prompt.ts"
import {
  annotations,
  blocks,
  client,
  clientCapabilities,
  created,
  done,
  form,
  hints,
  icons,
  meta,
  noParams,
  page,
  page1,
  requestMeta,
  resource,
  retry,
  round,
  sample,
  server,
  serverCapabilities,
  task,
  tool
} from "./parts.ts"

export interface Example {
  readonly name: string
  readonly method: Method.RequestMethod<string, unknown, unknown> | Method.NotificationMethod<string, unknown>
  readonly part: "params" | "result"
  readonly value: object
}

const request = <P extends object, R extends object>(
  method: Method.RequestMethod<string, P, R>,
  params: Readonly<Record<string, P>>,
  results: Readonly<Record<string, R>>
): ReadonlyArray<Example> => [
  ...Object.entries(params).map(([name, value]): Example => ({ name, method, part: "params", value })),
  ...Object.entries(results).map(([name, value]): Example => ({ name, method, part: "result", value }))
]

const notification = <P extends object>(
  method: Method.NotificationMethod<string, P>,
  value: P
): ReadonlyArray<Example> => [
  { name: "full", method, part: "params", value }
]

export const examples: ReadonlyArray<Example> = [
  ...request(Methods.Initialize, {
    full: { protocolVersion: "2025-11-25", capabilities: clientCapabilities, clientInfo: client, _meta: requestMeta }
  }, {
    full: {
      protocolVersion: "2025-11-25",
      capabilities: serverCapabilities,
      serverInfo: server,
      instructions: "Ask.",
      _meta: meta
    }
  }),
  ...request(Methods.Discover, { full: noParams }, {
    full: {
      supportedVersions: ["2026-07-28", "2025-11-25"],
      capabilities: serverCapabilities,
      instructions: "Ask.",
      ...hints,
      ...done
    }
  }),
  ...request(Methods.Ping, { full: noParams }, { full: done }),
  ...request(Methods.ToolsList, { full: page1 }, {
    full: { tools: [tool], nextCursor: "", ...hints, ...done },
    "array-output": { tools: [{ name: "list", inputSchema: { type: "object" }, outputSchema: { type: "array" } }] }
  }),
  ...request(Methods.ToolsCall, {
    full: {
      name: "get_weather",
      arguments: { city: "Bern", deep: [null, 1.5] },
      task: { ttl: 1_000 },
      ...retry,
      _meta: requestMeta
    },
    bare: { name: "now" }
  }, {
    full: { content: blocks, structuredContent: { celsius: 4 }, isError: false, ...done },
    text: { content: [{ type: "text", text: "4" }] },
    "array-structured": { content: [{ type: "text", text: "[1,2]" }], structuredContent: [1, 2] },
    "only-structured": { content: [], structuredContent: null },
    round,
    task: created
  }),
  ...request(Methods.ResourcesList, { full: page1 }, {
    full: { resources: [resource], nextCursor: "p2", ...hints, ...done }
  }),
  ...request(Methods.ResourcesTemplatesList, { full: page1 }, {
    full: {
      resourceTemplates: [{
        uriTemplate: "file:///{path}",
        name: "files",
        title: "Files",
        description: "All of them",
        mimeType: "text/plain",
        annotations,
        icons,
        _meta: meta
      }],
      nextCursor: "p2",
      ...hints,
      ...done
    }
  }),
  ...request(Methods.ResourcesRead, { full: { uri: "file:///notes/1.md", ...retry, _meta: requestMeta } }, {
    full: {
      contents: [
        { uri: "file:///notes/1.md", mimeType: "text/markdown", text: "# One", _meta: meta },
        { uri: "file:///notes/1.bin", blob: "aGk=" }
      ],
      ...hints,
      ...done
    },
    round
  }),
  ...request(Methods.ResourcesSubscribe, { full: { uri: "file:///notes/1.md", _meta: requestMeta } }, { full: done }),
  ...request(Methods.ResourcesUnsubscribe, { full: { uri: "file:///notes/1.md", _meta: requestMeta } }, { full: done }),
  ...request(Methods.PromptsList, { full: page1 }, {
    full: {
      prompts: [{
        name: "greet",
        title: "Greeting",
        description: "Says hello",
        arguments: [{ name: "who", title: "Whom", description: "The one to greet", required: true }],
        icons,
        _meta: meta
      }],
      nextCursor: "p2",
      ...hints,
      ...done
    }
  }),
  ...request(Methods.PromptsGet, { full: { name: "greet", arguments: { who: "Ada" }, ...retry, _meta: requestMeta } }, {
    full: {
      description: "A greeting",
      messages: blocks.map((content, index): Prompt.Message => ({
        role: index % 2 === 0 ? "user" : "assistant",
        content
      })),
      ...done
    },
    round
  }),
  ...request(Methods.CompletionComplete, {
    prompt: {
      ref: { type: "ref/prompt", name: "greet", title: "Greeting" },
      argument: { name: "who", value: "A" },
      context: { arguments: { language: "en" } },
      _meta: requestMeta
    },
    resource: { ref: { type: "ref/resource", uri: "file:///{path}" }, argument: { name: "path", value: "n" } }
  }, {
    full: { completion: { values: ["Ada", "Alan"], total: 2, hasMore: false }, ...done },
    many: { completion: { values: Array.from({ length: 150 }, (_, index) => `v${index}`) } }
  }),
  ...request(Methods.LoggingSetLevel, { full: { level: "warning", _meta: requestMeta } }, { full: done }),
  ...request(Methods.SubscriptionsListen, {
    full: {
      notifications: {
        toolsListChanged: true,
        promptsListChanged: false,
        resourcesListChanged: true,
        resourceSubscriptions: ["file:///notes/1.md"],
        taskIds: ["786512e2"]
      },
      _meta: requestMeta
    }
  }, { full: { resultType: "complete", _meta: { "io.modelcontextprotocol/subscriptionId": 1 } } }),
  ...request(Methods.SamplingCreateMessage, { full: sample }, {
    full: {
      role: "assistant",
      content: [{ type: "text", text: "Cold, " }, { type: "text", text: "dry." }],
      model: "example-1",
      stopReason: "endTurn",
      _meta: meta
    },
    "tool-use": {
      role: "assistant",
      content: { type: "tool_use", id: "u1", name: "get_weather", input: {} },
      model: "example-1",
      stopReason: "toolUse"
    },
    task: created
  }),
  ...request(Methods.RootsList, { full: { _meta: meta } }, {
    full: { roots: [{ uri: "file:///home/ada", name: "home", _meta: meta }], _meta: meta }
  }),
  ...request(Methods.ElicitationCreate, { form, page }, {
    accept: { action: "accept", content: { name: "Ada", age: 36, happy: true, days: ["mo", "tu"] }, _meta: meta },
    decline: { action: "decline", content: { name: "not said" } },
    task: created
  }),
  ...request(Methods.TasksGet, { full: { taskId: "786512e2", _meta: requestMeta } }, {
    working: { ...task, ...done },
    "input-required": { ...task, status: "input_required", inputRequests: round.inputRequests ?? {}, ...done },
    completed: { ...task, status: "completed", ttlMs: null, result: { content: [] }, ...done },
    failed: { ...task, status: "failed", error: { code: -32603, message: "Internal error" }, ...done }
  }),
  ...request(Methods.TasksResult, { full: { taskId: "786512e2", _meta: requestMeta } }, {
    full: {
      content: [{ type: "text", text: "4" }],
      _meta: { "io.modelcontextprotocol/related-task": { taskId: "786512e2" } }
    }
  }),
  ...request(Methods.TasksList, { full: page1 }, { full: { tasks: [task], nextCursor: "p2", _meta: meta } }),
  ...request(Methods.TasksCancel, { full: { taskId: "786512e2", _meta: requestMeta } }, {
    full: { task: { ...task, status: "cancelled" }, ...done }
  }),
  ...request(Methods.TasksUpdate, {
    full: { taskId: "786512e2", inputResponses: { who: { action: "cancel" } }, _meta: requestMeta }
  }, { full: done }),
  ...notification(Methods.Initialized, { _meta: meta }),
  ...notification(Methods.Cancelled, { requestId: "req-1", reason: "No longer needed", _meta: meta }),
  ...notification(Methods.Progress, { progressToken: "p", progress: 0.5, total: 1, message: "Half", _meta: meta }),
  ...notification(Methods.LoggingMessage, { level: "error", logger: "db", data: { lost: [null, 1.5] }, _meta: meta }),
  ...notification(Methods.ToolsListChanged, { _meta: meta }),
  ...notification(Methods.PromptsListChanged, { _meta: meta }),
  ...notification(Methods.ResourcesListChanged, { _meta: meta }),
  ...notification(Methods.ResourcesUpdated, { uri: "file:///notes/1.md", _meta: meta }),
  ...notification(Methods.RootsListChanged, { _meta: meta }),
  ...notification(Methods.ElicitationComplete, { elicitationId: "550e8400", _meta: meta }),
  ...notification(Methods.TasksStatus, { ...task, _meta: meta }),
  ...notification(Methods.TasksChanged, { ...task, status: "completed", result: { content: [] }, _meta: meta }),
  ...notification(Methods.SubscriptionsAcknowledged, {
    notifications: { toolsListChanged: true, taskIds: ["786512e2"] },
    _meta: { "io.modelcontextprotocol/subscriptionId": 1 }
  })
]
