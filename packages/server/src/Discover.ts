/**
 * What a server says about itself: the answers to `initialize` and `server/discover`, and the capabilities in both.
 *
 * Capabilities follow from what is registered, unless the options of the endpoint declare otherwise. A method whose
 * capability is not offered does not exist (RPC-24).
 *
 * @since 0.1.0
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import type { JsonObject } from "@mcpfx/schema/JsonRpc"
import type * as Lifecycle from "@mcpfx/schema/Lifecycle"
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import * as Task from "@mcpfx/schema/Task"
import type { AnnouncementEntry } from "./Entry.ts"
import type { Settings } from "./internal/settings.ts"
import type { Snapshot } from "./Registry.ts"

/**
 * What an endpoint offers at one moment, on one revision.
 *
 * @category models
 * @since 0.1.0
 */
export interface Offer {
  readonly tools: boolean
  readonly prompts: boolean
  readonly resources: boolean
  readonly completions: boolean
  readonly logging: boolean
  /** Which lists announce their changes (LIF-14 of field practice). */
  readonly announces: { readonly tools: boolean; readonly prompts: boolean; readonly resources: boolean }
  /** Whether single resources can be watched (RES-03). */
  readonly subscribe: boolean
  /** Whether calls of some tool may run as tasks, on a revision that has them or may have them. */
  readonly tasks: boolean
  /** What is announced beside the protocol's own capabilities (EXT-02). */
  readonly extensions: Readonly<Record<string, JsonObject>> | undefined
  /** Notifications that are not the protocol's own and that clients may ask to hear of. */
  readonly announcements: ReadonlyArray<AnnouncementEntry>
}

interface KindFlags {
  readonly listChanged?: boolean | undefined
  readonly subscribe?: boolean | undefined
}

const offered = (declared: boolean | KindFlags | undefined, registered: boolean): boolean =>
  declared === undefined ? registered : declared !== false

const flag = (declared: boolean | KindFlags | undefined, name: keyof KindFlags): boolean =>
  typeof declared !== "object" || declared[name] !== false

/** Those of the options, and over them those that are registered. */
const extensionsOf = (settings: Settings, snapshot: Snapshot, revision: Revision): Offer["extensions"] => {
  const registered = snapshot.extensions.filter((extension) => extension.existsOn(revision))
  return registered.length === 0 ? settings.extensions : {
    ...settings.extensions,
    ...Object.fromEntries(registered.map((extension) => [extension.name, extension.settings]))
  }
}

/**
 * What is offered of a snapshot. `pushes` says whether there is a stream to announce changes on: a stateless endpoint has
 * none on the revisions with sessions, and keeps no level of log messages there either.
 *
 * @category getters
 * @since 0.1.0
 */
export const offer = (settings: Settings, snapshot: Snapshot, pushes: boolean, revision: Revision): Offer => {
  const { declared } = settings
  const extensions = extensionsOf(settings, snapshot, revision)
  const tools = offered(declared.tools, snapshot.tools.length > 0)
  const tasks = tools && snapshot.tools.some((tool) => tool.task !== undefined)
  const prompts = offered(declared.prompts, snapshot.prompts.length > 0)
  const resources = offered(declared.resources, snapshot.resources.length > 0 || snapshot.templates.length > 0)
  const completes = snapshot.prompts.some((prompt) => prompt.completions.size > 0) ||
    snapshot.templates.some((template) => template.completions.size > 0)
  return {
    tools,
    prompts,
    resources,
    completions: offered(declared.completions, completes),
    logging: pushes && declared.logging !== false,
    announces: {
      tools: pushes && tools && flag(declared.tools, "listChanged"),
      prompts: pushes && prompts && flag(declared.prompts, "listChanged"),
      resources: pushes && resources && flag(declared.resources, "listChanged")
    },
    subscribe: pushes && resources && flag(declared.resources, "subscribe"),
    tasks,
    extensions: tasks && revision.era === "modern" ? { ...extensions, [Task.extensionId]: {} } : extensions,
    announcements: pushes ? snapshot.announcements.filter((entry) => entry.existsOn(revision)) : []
  }
}

/**
 * Whether the method exists under what is offered (RPC-24). Methods that belong to no capability always do.
 *
 * @category getters
 * @since 0.1.0
 */
export const hasMethod = (offer: Offer, revision: Revision, method: string): boolean => {
  switch (method) {
    case Methods.ToolsList.name:
    case Methods.ToolsCall.name:
      return offer.tools
    case Methods.PromptsList.name:
    case Methods.PromptsGet.name:
      return offer.prompts
    case Methods.ResourcesList.name:
    case Methods.ResourcesTemplatesList.name:
    case Methods.ResourcesRead.name:
      return offer.resources
    case Methods.ResourcesSubscribe.name:
    case Methods.ResourcesUnsubscribe.name:
      return offer.subscribe
    case Methods.CompletionComplete.name:
      // 2024-11-05 has the method and no capability for it (CMP-01).
      return offer.completions || (!revision.features.completionsCapability && (offer.prompts || offer.resources))
    case Methods.LoggingSetLevel.name:
      return offer.logging
    case Methods.SubscriptionsListen.name:
      return offer.subscribe || offer.announces.tools || offer.announces.prompts || offer.announces.resources ||
        offer.announcements.length > 0 || offer.tasks
    case Methods.TasksGet.name:
    case Methods.TasksResult.name:
    case Methods.TasksList.name:
    case Methods.TasksCancel.name:
    case Methods.TasksUpdate.name:
      return offer.tasks
    default:
      return true
  }
}

/**
 * The capabilities as they are announced; the revision's codec leaves out what that revision does not know. `listsTasks` says
 * whether the client may list its tasks, which it may not where it cannot be told from others (TKL-10).
 *
 * @category getters
 * @since 0.1.0
 */
export const capabilities = (settings: Settings, offer: Offer, listsTasks = true): Capabilities.Server => ({
  ...(settings.experimental && { experimental: settings.experimental }),
  ...(offer.logging && { logging: {} }),
  ...(offer.completions && { completions: {} }),
  ...(offer.prompts && { prompts: offer.announces.prompts ? { listChanged: true } : {} }),
  ...(offer.resources && {
    resources: {
      ...(offer.subscribe && { subscribe: true }),
      ...(offer.announces.resources && { listChanged: true })
    }
  }),
  ...(offer.tools && { tools: offer.announces.tools ? { listChanged: true } : {} }),
  ...(offer.tasks && {
    tasks: { ...(listsTasks && { list: {} }), cancel: {}, requests: { tools: { call: {} } } }
  }),
  ...(offer.extensions && { extensions: offer.extensions })
})

/**
 * The revision a client gets that asked for `requested`: that one if it has sessions and is served, else the newest that
 * has and is (LIF-03). `undefined` where no revision with sessions is served.
 *
 * @category getters
 * @since 0.1.0
 */
export const negotiate = (settings: Settings, requested: string): Revision | undefined => {
  const asked = settings.byVersion.get(requested)
  return asked?.era === "legacy" ? asked : settings.newestLegacy
}

/**
 * The answer to `initialize`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const initializeResult = (
  settings: Settings,
  revision: Revision,
  offer: Offer,
  listsTasks = true
): Lifecycle.InitializeResult => ({
  protocolVersion: revision.version,
  capabilities: capabilities(settings, offer, listsTasks),
  serverInfo: settings.info,
  ...(settings.instructions !== undefined && { instructions: settings.instructions })
})

/**
 * The answer to `server/discover` (VER-05); who the server is stands in `_meta`, which the dispatcher adds.
 *
 * @category constructors
 * @since 0.1.0
 */
export const discoverResult = (settings: Settings, offer: Offer): Lifecycle.DiscoverResult => ({
  supportedVersions: settings.supported,
  capabilities: capabilities(settings, offer),
  ttlMs: settings.cache.ttlMs,
  cacheScope: settings.cache.scope,
  ...(settings.instructions !== undefined && { instructions: settings.instructions })
})
