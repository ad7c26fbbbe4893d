/**
 * What a server offers, as immutable snapshots that change under scoped registrations.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { type Change, ChangeBus } from "./ChangeBus.ts"
import type {
  AnnouncementEntry,
  Entry,
  ExtensionEntry,
  ListenerEntry,
  MethodEntry,
  PromptEntry,
  ResourceEntry,
  TemplateEntry,
  ToolEntry
} from "./Entry.ts"
import { rememberBase } from "./internal/ambient.ts"
import { Shelf } from "./internal/shelf.ts"
import { afterRegistrations, shortLived } from "./internal/shortLived.ts"
import { DuplicateEntry } from "./ServerError.ts"

/**
 * The lists are sorted: tools, prompts and templates by name, resources by URI (TOL-03).
 *
 * @category models
 * @since 0.1.0
 */
export interface Snapshot {
  /** Grows by one with each change; equal numbers are equal contents. */
  readonly version: number
  readonly tools: ReadonlyArray<ToolEntry>
  readonly resources: ReadonlyArray<ResourceEntry>
  readonly templates: ReadonlyArray<TemplateEntry>
  readonly prompts: ReadonlyArray<PromptEntry>
  /** Requests that are not the protocol's own. */
  readonly methods: ReadonlyArray<MethodEntry>
  readonly extensions: ReadonlyArray<ExtensionEntry>
  readonly tool: (name: string) => ToolEntry | undefined
  readonly resource: (uri: string) => ResourceEntry | undefined
  readonly prompt: (name: string) => PromptEntry | undefined
  readonly template: (template: string) => TemplateEntry | undefined
  readonly method: (name: string) => MethodEntry | undefined
  /** Who hears a notification that is not the protocol's own. */
  readonly listener: (name: string) => ListenerEntry | undefined
  /** Notifications that are not the protocol's own and that clients may ask to hear of. */
  readonly announcements: ReadonlyArray<AnnouncementEntry>
  readonly announcement: (name: string) => AnnouncementEntry | undefined
  readonly extension: (id: string) => ExtensionEntry | undefined
}

/**
 * @category services
 * @since 0.1.0
 */
export class Registry extends Context.Service<Registry, {
  /** What is offered now. */
  readonly snapshot: () => Snapshot
  /** Offers `entry` while the scope is open; a taken name or URI fails. Listeners hear of both. */
  readonly register: (entry: Entry) => Effect.Effect<void, DuplicateEntry, Scope.Scope>
  /** Offers `entry` in the place of what had its name, while the scope is open; then the old one is back. */
  readonly replace: (entry: Entry) => Effect.Effect<void, never, Scope.Scope>
}>()("@mcpfx/server/Registry") {}

/**
 * The name under which an entry is found: a tool's or prompt's name, a resource's URI, a template as written.
 *
 * @category getters
 * @since 0.1.0
 */
export const nameOf = (entry: Entry): string => {
  switch (entry.kind) {
    case "resource":
      return entry.uri
    case "template":
      return entry.template
    default:
      return entry.name
  }
}

const makeShelves = () => ({
  tool: new Shelf<ToolEntry>((entry) => entry.name),
  resource: new Shelf<ResourceEntry>((entry) => entry.uri),
  template: new Shelf<TemplateEntry>((entry) => entry.template),
  prompt: new Shelf<PromptEntry>((entry) => entry.name),
  method: new Shelf<MethodEntry>((entry) => entry.name),
  notification: new Shelf<ListenerEntry>((entry) => entry.name),
  announcement: new Shelf<AnnouncementEntry>((entry) => entry.name),
  extension: new Shelf<ExtensionEntry>((entry) => entry.name)
})

const put = (shelves: ReturnType<typeof makeShelves>, entry: Entry): () => void => {
  switch (entry.kind) {
    case "tool":
      return shelves.tool.add(entry)
    case "resource":
      return shelves.resource.add(entry)
    case "template":
      return shelves.template.add(entry)
    case "prompt":
      return shelves.prompt.add(entry)
    case "method":
      return shelves.method.add(entry)
    case "notification":
      return shelves.notification.add(entry)
    case "announcement":
      return shelves.announcement.add(entry)
    case "extension":
      return shelves.extension.add(entry)
  }
}

/** What is not on a list changes silently. */
const changeOf: Readonly<Record<Entry["kind"], Change | undefined>> = {
  tool: { kind: "tools" },
  prompt: { kind: "prompts" },
  resource: { kind: "resources" },
  template: { kind: "resources" },
  method: undefined,
  notification: undefined,
  announcement: undefined,
  extension: undefined
}

/**
 * A registry of its own. Adding costs the same however many entries there are; the lists are sorted when they are next
 * looked at.
 *
 * **Example** (Offering something for a while)
 *
 * ```ts
 * import { ChangeBus, Registry } from "@mcpfx/server"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const registry = yield* Registry.make
 *   return registry.snapshot().tools.length
 * })
 * Effect.runSync(Effect.provide(program, ChangeBus.layerMemory)) // => 0
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: Effect.Effect<Registry["Service"], never, ChangeBus> = Effect.gen(function*() {
  const bus = yield* ChangeBus
  const shelves = makeShelves()
  let version = 0
  let offered = 0
  let current: Snapshot | undefined

  const changed = (): void => {
    version++
    current = undefined
  }

  const announcing = (kind: Entry["kind"]): Effect.Effect<void> => {
    const change = changeOf[kind]
    return change === undefined ? Effect.void : bus.publish(change)
  }

  const offer = <E>(take: () => Result.Result<() => void, E>, announce: Effect.Effect<void>) =>
    Effect.asVoid(Effect.acquireRelease(
      Effect.suspend(() => {
        const taken = take()
        if (Result.isFailure(taken)) return Effect.fail(taken.failure)
        changed()
        return Effect.as(
          ++offered === afterRegistrations ? Effect.andThen(shortLived, announce) : announce,
          taken.success
        )
      }),
      (remove) =>
        Effect.suspend(() => {
          remove()
          changed()
          return announce
        })
    ))

  const look = (): Snapshot => {
    const [tools, resources] = [shelves.tool.view(), shelves.resource.view()]
    const [templates, prompts] = [shelves.template.view(), shelves.prompt.view()]
    const announcements = shelves.announcement.view()
    const [methods, extensions] = [shelves.method.view(), shelves.extension.view()]
    return {
      version,
      tools: tools.list,
      resources: resources.list,
      templates: templates.list,
      prompts: prompts.list,
      methods: methods.list,
      extensions: extensions.list,
      tool: tools.get,
      resource: resources.get,
      template: templates.get,
      prompt: prompts.get,
      method: methods.get,
      listener: shelves.notification.view().get,
      announcements: announcements.list,
      announcement: announcements.get,
      extension: extensions.get
    }
  }

  const registry: Registry["Service"] = {
    snapshot: () => current ??= look(),
    // Looking whether the name is free and taking it is one step that no other fiber can come between.
    register: (entry) =>
      offer(() =>
        shelves[entry.kind].has(nameOf(entry))
          ? Result.fail(new DuplicateEntry({ kind: entry.kind, name: nameOf(entry) }))
          : Result.succeed(put(shelves, entry)), announcing(entry.kind)),
    // Another entry under the same URI reads differently, so those who watch the resource hear of it as well.
    replace: (entry) => {
      const list = announcing(entry.kind)
      const announce = entry.kind === "resource"
        ? Effect.andThen(list, bus.publish({ kind: "resource", uri: entry.uri }))
        : list
      return offer(() => Result.succeed(put(shelves, entry)), announce)
    }
  }
  rememberBase(registry, yield* Effect.context<never>())
  return registry
})

/**
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Registry, never, ChangeBus> = Layer.effect(Registry, make)
