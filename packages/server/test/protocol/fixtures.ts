/** Registrations by hand, so that the protocol is tested apart from the layers that make them. */
import type { Completion, McpError, Prompt, Resource, Tool } from "@mcpfx/schema"
import type { Entry } from "@mcpfx/server"
import { ChangeBus } from "@mcpfx/server/ChangeBus"
import { Registry } from "@mcpfx/server/Registry"
import type { DuplicateEntry } from "@mcpfx/server/ServerError"
import { Effect, Layer } from "effect"

type Failure = McpError.McpError

const facts = { visible: undefined, asks: [], scopes: [] } as const

export const text = (value: string): Tool.CallResult => ({ content: [{ type: "text", text: value }] })

export const tool = (
  name: string,
  run: (params: Tool.CallParams) => ReturnType<Entry.ToolEntry["run"]>,
  more: Partial<Entry.ToolEntry> = {}
): Entry.ToolEntry => ({
  ...facts,
  kind: "tool",
  name,
  descriptor: { name, inputSchema: { type: "object" } },
  headerParams: [],
  run,
  ...more
})

export const resource = (
  uri: string,
  read: Effect.Effect<Resource.ReadResult, Failure, Entry.RequestServices>,
  more: Partial<Entry.ResourceEntry> = {}
): Entry.ResourceEntry => ({
  ...facts,
  kind: "resource",
  uri,
  descriptor: { uri, name: uri },
  cache: undefined,
  read: () => read,
  ...more
})

/** Matches URIs that start with what comes before the brace and have no slash after it. */
export const template = (
  uriTemplate: string,
  read: (value: string) => Effect.Effect<Resource.ReadResult, Failure, Entry.RequestServices>,
  more: Partial<Entry.TemplateEntry> = {}
): Entry.TemplateEntry => {
  const prefix = uriTemplate.slice(0, uriTemplate.indexOf("{"))
  return {
    ...facts,
    kind: "template",
    template: uriTemplate,
    descriptor: { uriTemplate, name: uriTemplate },
    cache: undefined,
    match: (uri) => {
      const value = uri.slice(prefix.length)
      return uri.startsWith(prefix) && value !== "" && !value.includes("/") ? read(value) : undefined
    },
    completions: new Map(),
    ...more
  }
}

export const prompt = (
  name: string,
  get: (params: Prompt.GetParams) => Effect.Effect<Prompt.GetResult, Failure, Entry.RequestServices>,
  more: Partial<Entry.PromptEntry> = {}
): Entry.PromptEntry => ({
  ...facts,
  kind: "prompt",
  name,
  descriptor: { name },
  get,
  completions: new Map(),
  ...more
})

export const contents = (uri: string, value: string): Resource.ReadResult => ({ contents: [{ uri, text: value }] })

export const completing = (values: ReadonlyArray<string>): Entry.Complete => (typed) =>
  Effect.succeed<Completion.Result>({ completion: { values: values.filter((value) => value.startsWith(typed)) } })

export const register = (...entries: ReadonlyArray<Entry.Entry>): Layer.Layer<never, DuplicateEntry, Registry> =>
  Layer.effectDiscard(Effect.gen(function*() {
    const registry = yield* Registry
    for (const entry of entries) yield* registry.register(entry)
  }))

/** What the endpoint gives its registrations, for tests that change something from outside. */
export interface Inside {
  registry: Registry["Service"] | undefined
  bus: ChangeBus["Service"] | undefined
}

export const spy = (inside: Inside): Layer.Layer<never, never, Registry | ChangeBus> =>
  Layer.effectDiscard(Effect.gen(function*() {
    inside.registry = yield* Registry
    inside.bus = yield* ChangeBus
  }))
