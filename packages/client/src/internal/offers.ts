/** What a server has to offer for a method to exist there: what it does not is not asked for (LIF-09). */
import * as Capabilities from "@mcpfx/schema/Capabilities"
import * as Methods from "@mcpfx/schema/Methods"
import * as Task from "@mcpfx/schema/Task"
import { MethodUnsupported } from "@mcpfx/session/SessionError"
import type { ServerFacts } from "../Connection.ts"

const hasTasks = (capabilities: Capabilities.Server): boolean =>
  Capabilities.hasExtension(capabilities, Task.extensionId)

const offers = ({ capabilities, revision }: ServerFacts, method: string): boolean => {
  const { completions, logging, prompts, resources, tasks, tools } = capabilities
  switch (method) {
    case Methods.ToolsList.name:
    case Methods.ToolsCall.name:
      return tools !== undefined
    case Methods.PromptsList.name:
    case Methods.PromptsGet.name:
      return prompts !== undefined
    case Methods.ResourcesList.name:
    case Methods.ResourcesTemplatesList.name:
    case Methods.ResourcesRead.name:
      return resources !== undefined
    case Methods.ResourcesSubscribe.name:
    case Methods.ResourcesUnsubscribe.name:
      return resources?.subscribe === true
    case Methods.CompletionComplete.name:
      // 2024-11-05 has the method and no capability for it (CMP-01).
      return completions !== undefined ||
        (!revision.features.completionsCapability && (prompts !== undefined || resources !== undefined))
    case Methods.LoggingSetLevel.name:
      return logging !== undefined
    case Methods.TasksGet.name:
    case Methods.TasksResult.name:
    case Methods.TasksUpdate.name:
      return revision.era === "legacy" ? tasks !== undefined : hasTasks(capabilities)
    case Methods.TasksCancel.name:
      return revision.era === "legacy" ? tasks?.cancel !== undefined : hasTasks(capabilities)
    case Methods.TasksList.name:
      return tasks?.list !== undefined
    default:
      return true
  }
}

/** Why the method is not sent to this server; `undefined` when it may be. */
export const missing = (server: ServerFacts, method: string): MethodUnsupported | undefined =>
  offers(server, method) ? undefined : new MethodUnsupported({ method, revision: server.revision.version })
