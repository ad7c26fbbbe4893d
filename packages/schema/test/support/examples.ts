/** One neutral value of every message, with every member it can have. */
import type { Annotations } from "../../src/Annotations.ts"
import type * as Capabilities from "../../src/Capabilities.ts"
import type * as Content from "../../src/Content.ts"
import type * as Elicitation from "../../src/Elicitation.ts"
import type { Implementation } from "../../src/Implementation.ts"
import type { InputRequired } from "../../src/InputRequired.ts"
import type * as Method from "../../src/Method.ts"
import * as Methods from "../../src/Methods.ts"
import type * as Prompt from "../../src/Prompt.ts"
import type * as Resource from "../../src/Resource.ts"
import type * as Sampling from "../../src/Sampling.ts"
import type * as Task from "../../src/Task.ts"
import type * as Tool from "../../src/Tool.ts"

const meta = { "example.com/trace": "t1" }
const requestMeta = { progressToken: 7, ...meta }
const icons = [{
  src: "https://example.com/icon.png",
  mimeType: "image/png",
  sizes: ["48x48", "any"],
  theme: "dark"
}] as const
const annotations: Annotations = {
  audience: ["user", "assistant"],
  priority: 0.5,
  lastModified: "2025-06-18T10:00:00Z"
}

const client: Implementation = {
  name: "example-client",
  title: "Example client",
  version: "1.2.3",
  description: "Talks to servers",
  websiteUrl: "https://example.com",
  icons
}
const server: Implementation = { ...client, name: "example-server", title: "Example server" }

const clientCapabilities: Capabilities.Client = {
  experimental: { "example.com/x": { on: true } },
  roots: { listChanged: true },
  sampling: { context: {}, tools: {} },
  elicitation: { form: {}, url: {} },
  tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
  extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } }
}
const serverCapabilities: Capabilities.Server = {
  experimental: { "example.com/x": { on: true } },
  logging: {},
  completions: {},
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  tools: { listChanged: true },
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
  extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } }
}

const resource: Resource.Descriptor = {
  uri: "file:///notes/1.md",
  name: "note-1",
  title: "First note",
  description: "What was said first",
  mimeType: "text/markdown",
  annotations,
  size: 42,
  icons,
  _meta: meta
}

const blocks: ReadonlyArray<Content.Content> = [
  { type: "text", text: "hello", annotations, _meta: meta },
  { type: "image", data: "aGk=", mimeType: "image/png", annotations, _meta: meta },
  { type: "audio", data: "aGk=", mimeType: "audio/wav", annotations, _meta: meta },
  { type: "resource_link", ...resource },
  {
    type: "resource",
    resource: { uri: "file:///notes/1.md", mimeType: "text/markdown", text: "# One", _meta: meta },
    annotations,
    _meta: meta
  },
  {
    type: "resource",
    resource: { uri: "file:///notes/1.bin", mimeType: "application/octet-stream", blob: "aGk=", _meta: meta }
  },
  { type: "opaque", block: { type: "hologram", x: 1 } }
]

const tool: Tool.Descriptor = {
  name: "get_weather",
  title: "Weather",
  description: "Says how the weather is",
  inputSchema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { city: { type: "string" }, anything: true, nothing: false },
    required: ["city"],
    additionalProperties: false
  },
  outputSchema: { type: "object", properties: { celsius: { type: "number" } }, required: ["celsius"] },
  annotations: {
    title: "Weather",
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: true
  },
  execution: { taskSupport: "optional" },
  icons,
  _meta: meta
}

const task: Task.Task = {
  taskId: "786512e2",
  status: "working",
  statusMessage: "Looking out of the window",
  createdAt: "2025-11-25T10:30:00Z",
  lastUpdatedAt: "2025-11-25T10:40:00Z",
  ttlMs: 60_000,
  pollIntervalMs: 5_000
}

const sample: Sampling.CreateParams = {
  messages: [
    { role: "user", content: { type: "text", text: "How is it outside?", annotations, _meta: meta }, _meta: meta },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I will look." },
        { type: "tool_use", id: "u1", name: "get_weather", input: { city: "Bern" }, _meta: meta }
      ]
    },
    {
      role: "user",
      content: [{
        type: "tool_result",
        toolUseId: "u1",
        content: [{ type: "text", text: "4 degrees" }, { type: "opaque", block: { type: "hologram" } }],
        structuredContent: { celsius: 4 },
        isError: false,
        _meta: meta
      }]
    },
    { role: "user", content: { type: "audio", data: "aGk=", mimeType: "audio/wav" } }
  ],
  modelPreferences: { hints: [{ name: "small" }, {}], costPriority: 1, speedPriority: 0, intelligencePriority: 0.25 },
  systemPrompt: "Be brief.",
  includeContext: "none",
  temperature: 0.5,
  maxTokens: 100,
  stopSequences: ["END"],
  metadata: { vendor: 1 },
  tools: [tool],
  toolChoice: { mode: "auto" },
  task: { ttl: 1_000 },
  _meta: requestMeta
}

const form: Elicitation.FormParams = {
  mode: "form",
  message: "Who are you?",
  requestedSchema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      name: { type: "string", title: "Name", description: "As written", minLength: 1, maxLength: 50, default: "Ada" },
      mail: { type: "string", format: "email" },
      age: { type: "integer", minimum: 0, maximum: 150, default: 30 },
      ratio: { type: "number", minimum: 0.5, maximum: 1.5 },
      happy: { type: "boolean", title: "Happy?", default: true },
      colour: { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"], default: "r" },
      size: {
        type: "string",
        title: "Size",
        oneOf: [{ const: "s", title: "Small" }, { const: "l", title: "Large" }],
        default: "s"
      },
      days: {
        type: "array",
        title: "Days",
        minItems: 1,
        maxItems: 2,
        items: { type: "string", enum: ["mo", "tu"] },
        default: ["mo"]
      },
      fruits: { type: "array", items: { anyOf: [{ const: "a", title: "Apple" }] } }
    },
    required: ["name"]
  },
  task: { ttl: 1_000 },
  _meta: requestMeta
}

const page: Elicitation.UrlParams = {
  mode: "url",
  message: "Please sign in.",
  url: "https://example.com/sign-in?x=1",
  elicitationId: "550e8400",
  task: { ttl: 1_000 },
  _meta: requestMeta
}

const round: InputRequired = {
  resultType: "input_required",
  inputRequests: {
    who: { method: "elicitation/create", params: form },
    where: { method: "elicitation/create", params: page },
    what: { method: "sampling/createMessage", params: sample },
    root: { method: "roots/list", params: { _meta: meta } }
  },
  requestState: "sealed",
  _meta: meta
}

const created: Task.Created = { resultType: "task", task, _meta: meta }
const hints = { ttlMs: 60_000, cacheScope: "public" } as const
const done = { resultType: "complete", _meta: meta } as const
const noParams = { _meta: requestMeta }
const page1 = { cursor: "page-2", _meta: requestMeta }
const retry = { inputResponses: { who: { action: "accept", content: { name: "Ada" } } }, requestState: "sealed" }

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
