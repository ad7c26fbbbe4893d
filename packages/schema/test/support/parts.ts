/** Parts of neutral values with every member they can have. */
import type { Annotations } from "../../src/Annotations.ts"
import type * as Capabilities from "../../src/Capabilities.ts"
import type * as Content from "../../src/Content.ts"
import type * as Elicitation from "../../src/Elicitation.ts"
import type { Implementation } from "../../src/Implementation.ts"
import type { InputRequired } from "../../src/InputRequired.ts"
import type * as Resource from "../../src/Resource.ts"
import type * as Sampling from "../../src/Sampling.ts"
import type * as Task from "../../src/Task.ts"
import type * as Tool from "../../src/Tool.ts"

export const meta = { "example.com/trace": "t1" }
export const requestMeta = { progressToken: 7, ...meta }
export const icons = [{
  src: "https://example.com/icon.png",
  mimeType: "image/png",
  sizes: ["48x48", "any"],
  theme: "dark"
}] as const
export const annotations: Annotations = {
  audience: ["user", "assistant"],
  priority: 0.5,
  lastModified: "2025-06-18T10:00:00Z"
}

export const client: Implementation = {
  name: "example-client",
  title: "Example client",
  version: "1.2.3",
  description: "Talks to servers",
  websiteUrl: "https://example.com",
  icons
}
export const server: Implementation = { ...client, name: "example-server", title: "Example server" }

export const clientCapabilities: Capabilities.Client = {
  experimental: { "example.com/x": { on: true } },
  roots: { listChanged: true },
  sampling: { context: {}, tools: {} },
  elicitation: { form: {}, url: {} },
  tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
  extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } }
}
export const serverCapabilities: Capabilities.Server = {
  experimental: { "example.com/x": { on: true } },
  logging: {},
  completions: {},
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  tools: { listChanged: true },
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
  extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } }
}

export const resource: Resource.Descriptor = {
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

export const blocks: ReadonlyArray<Content.Content> = [
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

export const tool: Tool.Descriptor = {
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

export const task: Task.Task = {
  taskId: "786512e2",
  status: "working",
  statusMessage: "Looking out of the window",
  createdAt: "2025-11-25T10:30:00Z",
  lastUpdatedAt: "2025-11-25T10:40:00Z",
  ttlMs: 60_000,
  pollIntervalMs: 5_000
}

export const sample: Sampling.CreateParams = {
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

export const form: Elicitation.FormParams = {
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

export const page: Elicitation.UrlParams = {
  mode: "url",
  message: "Please sign in.",
  url: "https://example.com/sign-in?x=1",
  elicitationId: "550e8400",
  task: { ttl: 1_000 },
  _meta: requestMeta
}

export const round: InputRequired = {
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

export const created: Task.Created = { resultType: "task", task, _meta: meta }
export const hints = { ttlMs: 60_000, cacheScope: "public" } as const
export const done = { resultType: "complete", _meta: meta } as const
export const noParams = { _meta: requestMeta }
export const page1 = { cursor: "page-2", _meta: requestMeta }
export const retry = { inputResponses: { who: { action: "accept", content: { name: "Ada" } } }, requestState: "sealed" }
