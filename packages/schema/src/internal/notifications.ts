/** The notifications, each built from the shapes of whichever revision has it. */
import * as Schema from "effect/Schema"
import * as Cancellation from "../Cancellation.ts"
import type * as Method from "../Method.ts"
import * as Methods from "../Methods.ts"
import * as Progress from "../Progress.ts"
import * as Subscription from "../Subscription.ts"
import { after, reader } from "./codec.ts"
import { onNotification } from "./definition.ts"
import { meta } from "./fields.ts"
import { coreFilter } from "./filter.ts"
import { member, omit, type Project, same } from "./project.ts"

const plain = <P>(method: Method.NotificationMethod<string, P>) =>
  onNotification(method, () => ({ params: reader(method.params), writeParams: same }))

export const initialized = plain(Methods.Initialized)
export const toolsListChanged = plain(Methods.ToolsListChanged)
export const promptsListChanged = plain(Methods.PromptsListChanged)
export const resourcesListChanged = plain(Methods.ResourcesListChanged)
export const rootsListChanged = plain(Methods.RootsListChanged)
export const resourcesUpdated = plain(Methods.ResourcesUpdated)
export const message = plain(Methods.LoggingMessage)
export const elicitationComplete = plain(Methods.ElicitationComplete)

const { message: _, ...bareProgress } = Progress.Params.fields

/** 2024-11-05 has no `message`. */
export const progressBare = onNotification(Methods.Progress, () => ({
  params: after(reader(Schema.Struct(bareProgress)), omit("message")),
  writeParams: omit("message")
}))

export const progress = plain(Methods.Progress)

const { requestId: __, ...bareCancelled } = Cancellation.Params.fields

export const cancelled = onNotification(Methods.Cancelled, () => ({
  params: reader(Schema.Struct({ ...bareCancelled, requestId: Schema.Union([Schema.String, Schema.Int]) })),
  writeParams: same
}))

/** On 2025-11-25 the id may be left out (CAN-06). */
export const cancelledAny = plain(Methods.Cancelled)

const acknowledgedWith = <A>(filter: Schema.Codec<A, unknown>, project: Project) => () => ({
  params: after(reader(Schema.Struct({ notifications: filter, ...meta })), member("notifications", project)),
  writeParams: member("notifications", project)
})

/** Without the tasks extension: no `taskIds`. */
export const acknowledged = onNotification(
  Methods.SubscriptionsAcknowledged,
  acknowledgedWith(coreFilter, omit("taskIds"))
)
export const acknowledgedTasks = onNotification(
  Methods.SubscriptionsAcknowledged,
  acknowledgedWith(Subscription.Filter, same)
)
