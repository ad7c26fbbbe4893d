/**
 * Every method of the protocol, on any revision; their names are spelt here and nowhere else.
 *
 * @since 0.1.0
 */
import * as Cancellation from "./Cancellation.ts"
import * as Completion from "./Completion.ts"
import * as Elicitation from "./Elicitation.ts"
import * as Prompt from "./internal/promptShapes.ts"
import * as Resource from "./internal/resourceShapes.ts"
import * as Lifecycle from "./Lifecycle.ts"
import * as Logging from "./Logging.ts"
import { notification, request } from "./Method.ts"
import * as Outcome from "./Outcome.ts"
import * as Progress_ from "./Progress.ts"
import * as Roots from "./Roots.ts"
import * as Sampling from "./Sampling.ts"
import * as Subscription from "./Subscription.ts"
import * as Task from "./Task.ts"
import * as Tool from "./Tool.ts"

const noParams = Lifecycle.NoParams
const noResult = Lifecycle.EmptyResult

/** Up to 2025-11-25. @category requests @since 0.1.0 */
export const Initialize = request("initialize", {
  params: Lifecycle.InitializeParams,
  result: Lifecycle.InitializeResult
})

/** From 2026-07-28 on. @category requests @since 0.1.0 */
export const Discover = request("server/discover", { params: noParams, result: Lifecycle.DiscoverResult })

/** Up to 2025-11-25, either way. @category requests @since 0.1.0 */
export const Ping = request("ping", { params: noParams, result: noResult })

/** @category requests @since 0.1.0 */
export const ToolsList = request("tools/list", { params: Tool.ListParams, result: Tool.ListResult })

/** @category requests @since 0.1.0 */
export const ToolsCall = request("tools/call", { params: Tool.CallParams, result: Outcome.ToolCall })

/** @category requests @since 0.1.0 */
export const ResourcesList = request("resources/list", { params: Resource.ListParams, result: Resource.ListResult })

/** @category requests @since 0.1.0 */
export const ResourcesTemplatesList = request("resources/templates/list", {
  params: Resource.ListParams,
  result: Resource.TemplatesListResult
})

/** @category requests @since 0.1.0 */
export const ResourcesRead = request("resources/read", { params: Resource.ReadParams, result: Outcome.ResourceRead })

/** Up to 2025-11-25. @category requests @since 0.1.0 */
export const ResourcesSubscribe = request("resources/subscribe", {
  params: Resource.SubscribeParams,
  result: noResult
})

/** Up to 2025-11-25. @category requests @since 0.1.0 */
export const ResourcesUnsubscribe = request("resources/unsubscribe", {
  params: Resource.SubscribeParams,
  result: noResult
})

/** @category requests @since 0.1.0 */
export const PromptsList = request("prompts/list", { params: Prompt.ListParams, result: Prompt.ListResult })

/** @category requests @since 0.1.0 */
export const PromptsGet = request("prompts/get", { params: Prompt.GetParams, result: Outcome.PromptGet })

/** @category requests @since 0.1.0 */
export const CompletionComplete = request("completion/complete", {
  params: Completion.Params,
  result: Completion.Result
})

/** Up to 2025-11-25. @category requests @since 0.1.0 */
export const LoggingSetLevel = request("logging/setLevel", { params: Logging.SetLevelParams, result: noResult })

/** From 2026-07-28 on. @category requests @since 0.1.0 */
export const SubscriptionsListen = request("subscriptions/listen", {
  params: Subscription.ListenParams,
  result: Subscription.ListenResult
})

/** To the client; on 2026-07-28 as an input request only. @category requests @since 0.1.0 */
export const SamplingCreateMessage = request("sampling/createMessage", {
  params: Sampling.CreateParams,
  result: Outcome.Sample
})

/** To the client; on 2026-07-28 as an input request only. @category requests @since 0.1.0 */
export const RootsList = request("roots/list", { params: noParams, result: Roots.ListResult })

/** To the client, from 2025-06-18 on; on 2026-07-28 as an input request only. @category requests @since 0.1.0 */
export const ElicitationCreate = request("elicitation/create", {
  params: Elicitation.Params,
  result: Outcome.Elicit
})

/** On 2025-11-25, either way, and in the tasks extension. @category requests @since 0.1.0 */
export const TasksGet = request("tasks/get", { params: Task.Params, result: Task.GetResult })

/** On 2025-11-25, either way. @category requests @since 0.1.0 */
export const TasksResult = request("tasks/result", { params: Task.Params, result: Task.PayloadResult })

/** On 2025-11-25, either way. @category requests @since 0.1.0 */
export const TasksList = request("tasks/list", { params: Task.ListParams, result: Task.ListResult })

/** On 2025-11-25, either way, and in the tasks extension. @category requests @since 0.1.0 */
export const TasksCancel = request("tasks/cancel", { params: Task.Params, result: Task.CancelResult })

/** In the tasks extension. @category requests @since 0.1.0 */
export const TasksUpdate = request("tasks/update", { params: Task.UpdateParams, result: noResult })

/** Up to 2025-11-25, from the client. @category notifications @since 0.1.0 */
export const Initialized = notification("notifications/initialized", { params: Lifecycle.NoticeParams })

/** @category notifications @since 0.1.0 */
export const Cancelled = notification("notifications/cancelled", { params: Cancellation.Params })

/** @category notifications @since 0.1.0 */
export const Progress = notification("notifications/progress", { params: Progress_.Params })

/** @category notifications @since 0.1.0 */
export const LoggingMessage = notification("notifications/message", { params: Logging.MessageParams })

/** @category notifications @since 0.1.0 */
export const ToolsListChanged = notification("notifications/tools/list_changed", { params: Lifecycle.NoticeParams })

/** @category notifications @since 0.1.0 */
export const PromptsListChanged = notification("notifications/prompts/list_changed", {
  params: Lifecycle.NoticeParams
})

/** @category notifications @since 0.1.0 */
export const ResourcesListChanged = notification("notifications/resources/list_changed", {
  params: Lifecycle.NoticeParams
})

/** @category notifications @since 0.1.0 */
export const ResourcesUpdated = notification("notifications/resources/updated", { params: Resource.UpdatedParams })

/** Up to 2025-11-25, from the client. @category notifications @since 0.1.0 */
export const RootsListChanged = notification("notifications/roots/list_changed", { params: Lifecycle.NoticeParams })

/** On 2025-11-25. @category notifications @since 0.1.0 */
export const ElicitationComplete = notification("notifications/elicitation/complete", {
  params: Elicitation.CompleteParams
})

/** On 2025-11-25, either way. @category notifications @since 0.1.0 */
export const TasksStatus = notification("notifications/tasks/status", { params: Task.StatusParams })

/** In the tasks extension. @category notifications @since 0.1.0 */
export const TasksChanged = notification("notifications/tasks", { params: Task.StatusParams })

/** From 2026-07-28 on. @category notifications @since 0.1.0 */
export const SubscriptionsAcknowledged = notification("notifications/subscriptions/acknowledged", {
  params: Subscription.AcknowledgedParams
})
