/** What a handler finds around itself while it runs as a task, instead of the request that it came from. */
import * as Capabilities from "@mcpfx/schema/Capabilities"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import type * as Method from "@mcpfx/schema/Method"
import * as Methods from "@mcpfx/schema/Methods"
import type * as Wire from "@mcpfx/schema/Progress"
import type { Peer } from "@mcpfx/session/Peer"
import * as Progress from "@mcpfx/session/Progress"
import * as RequestContext from "@mcpfx/session/RequestContext"
import type { Dialect } from "@mcpfx/session/TaskState"
import * as Effect from "effect/Effect"
import { CapabilityMissing } from "../ServerError.ts"
import type { Interaction } from "./interaction.ts"
import type { TaskEngine } from "./taskEngine.ts"
import type { Live } from "./taskLive.ts"

type Request = RequestContext.RequestContext["Service"]

/** Streams on which the client can be told things about a task, besides that of its session. */
export type Notify = Request["notify"]

/** What is sent about a task says so, on 2025-11-25 (TKL-06). */
export const related = (id: string): JsonRpc.JsonObject => ({ [MetaKey.relatedTask]: { taskId: id } })

/** Adds members to `_meta` of what is sent. */
const marked = <Params>(params: Params, meta: JsonRpc.JsonObject): Params => {
  if (typeof params !== "object" || params === null) return params
  const own = "_meta" in params && JsonRpc.isJsonObject(params._meta) ? params._meta : undefined
  return { ...params, _meta: { ...own, ...meta } }
}

/** How far a handler says that it has come, in words. */
const wordsOf = ({ message, progress, total }: Wire.Params): string =>
  message ?? (total === undefined ? String(progress) : `${progress} of ${total}`)

/** Where a task can be spoken of. */
export interface Reach {
  /** The session that the task came from, while it is open. */
  readonly peer: () => Peer | undefined
  /** A request of the client that waits for this very task. */
  readonly waiting: () => Notify | undefined
}

/** Sends where there is a stream; what nobody can hear is left out. */
const teller = (live: Live, reach: Reach): Notify =>
<Name extends string, Params>(
  method: Method.NotificationMethod<Name, Params>,
  params: Params
) =>
  Effect.suspend((): Effect.Effect<void> => {
    if (live.over) return Effect.void
    const told = marked(params, related(live.record.id))
    const waiting = reach.waiting()
    if (waiting !== undefined) return waiting(method, told)
    return Effect.ignore(reach.peer()?.notify(method, told) ?? Effect.void)
  })

const silent: Notify = () => Effect.void

/**
 * The request as the handler of its task sees it. On 2025-11-25 its progress and its log messages go on, for as long as the
 * task does (PRG-07); in the extension there are none (TKX-13). Progress is the status of the task on both.
 */
export const contextOf = (
  engine: TaskEngine,
  live: Live,
  request: Request,
  dialect: Dialect,
  reach: Reach
): Request => {
  const notify = dialect === "core" ? teller(live, reach) : silent
  const { progressToken: token } = request
  const progress = Progress.make({
    token: token ?? "",
    send: (params) =>
      Effect.suspend(() => {
        engine.records.change(live, { _tag: "Told", message: wordsOf(params) })
        return token === undefined ? Effect.void : notify(Methods.Progress, params)
      })
  })
  const members = { notify, progress, asker: undefined }
  return RequestContext.extend(
    request,
    dialect === "core" ? members : { ...members, logLevel: undefined, progressToken: undefined }
  )
}

/** How the handler of a task asks: the question waits in the task until the client comes for it. Its steps run once. */
export const interactionOf = (engine: TaskEngine, live: Live, request: Request): Interaction => ({
  ask: (question) => {
    const [ask] = question.asks
    return Capabilities.missing(request.clientCapabilities, question.asks) === undefined
      ? engine.ask(live, question)
      : Effect.fail(new CapabilityMissing({ ask }))
  },
  step: ({ key, run }) => run(`${live.record.id}/${key}`)
})
