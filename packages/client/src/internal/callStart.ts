/** How calls are sent: with the headers that mirror their arguments, in rounds, and as tasks where that is what they are. */
import * as Capabilities from "@mcpfx/schema/Capabilities"
import * as Codes from "@mcpfx/schema/Codes"
import * as HeaderParam from "@mcpfx/schema/HeaderParam"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Methods from "@mcpfx/schema/Methods"
import * as Task from "@mcpfx/schema/Task"
import type * as Tool from "@mcpfx/schema/Tool"
import type { AnyContract, TaskSupport } from "@mcpfx/schema/ToolContract"
import type { PeerFailure, RequestOptions } from "@mcpfx/session/Peer"
import * as McpHeaders from "@mcpfx/transport/McpHeaders"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Connection, Live } from "../Connection.ts"
import type { InputDriver, Retry } from "../InputDriver.ts"
import { BadInput, fail, type McpClientError } from "../McpClientError.ts"
import type { KnownTools, Lists } from "./lists.ts"
import type { Requests } from "./requests.ts"

const method = Methods.ToolsCall.name

type HeaderParams = ReadonlyArray<HeaderParam.HeaderParam>

export interface Parts {
  readonly connection: Connection
  readonly requests: Requests
  readonly inRounds: InputDriver
  readonly lists: Lists
  readonly known: KnownTools
}

/** One call, before it is known how it is to end. */
export interface Call {
  readonly name: string
  readonly args: JsonRpc.JsonObject | undefined
  readonly headerParams: () => HeaderParams
  readonly options: RequestOptions | undefined
  /** What the contract says about tasks; what the tool is listed with where there is none. */
  readonly support: TaskSupport | undefined
  /** The wish that it be a task; without one it is where it has to be (TOL-23). */
  readonly task: Task.Augmentation | undefined
}

/** What becomes known of a call while it is sent. */
export class Course {
  /** Whether its answer may be a task. */
  mayBeTask = false
  /** Progress comes under this. */
  token: JsonRpc.RequestId | undefined = undefined
}

export interface Starter {
  /** Makes a call, and reads what it ends in. */
  readonly start: <A, E>(
    call: Call,
    course: Course,
    read: (outcome: Tool.CallResult | Task.Created) => Effect.Effect<A, McpClientError | E>
  ) => Effect.Effect<A, McpClientError | E>
  readonly byName: (name: string, args: JsonRpc.JsonObject | undefined, options: RequestOptions | undefined) => Call
}

/** What a call on 2025-11-25 says about tasks: what is wished, or what the tool needs. */
const withTask = <Params extends object>(live: Live, params: Params, call: Call, known: KnownTools): Params => {
  if (live.revision.era === "modern" || live.capabilities.tasks?.requests?.tools?.call === undefined) return params
  const needed = call.support === undefined
    ? known.get(call.name)?.execution?.taskSupport === "required"
    : call.support === "must"
  const task = call.task ?? (needed ? {} : undefined)
  return task === undefined ? params : { ...params, task }
}

const none: Result.Result<undefined> = Result.succeed(undefined)

/** A call by a contract; its input has to fit. */
export const byContract = (
  contract: AnyContract,
  input: unknown,
  options: RequestOptions | undefined
): Result.Result<Call, McpClientError> => {
  const encoded = input === undefined ? none : contract.encodeInput(input)
  if (Result.isFailure(encoded)) {
    return Result.fail(fail(new BadInput({ detail: encoded.failure.message() }), method))
  }
  return Result.succeed({
    name: contract.name,
    args: encoded.success,
    headerParams: () => contract.headerParams,
    options,
    support: contract.task,
    task: undefined
  })
}

/** The headers that mirror arguments, on HTTP of 2026-07-28 (XH-01). */
const headersFor = (live: Live, params: HeaderParams, args: JsonRpc.JsonObject) =>
  params.length === 0 || live.revision.era === "legacy" ? undefined : McpHeaders.mirrorParams(params, args)

export const make = ({ connection, inRounds, known, lists, requests }: Parts): Starter => {
  const isHttp = connection.transport === "http"

  const listedParams = (name: string): HeaderParams | undefined => {
    const schema = isHttp ? known.get(name)?.inputSchema : undefined
    return schema === undefined ? undefined : Result.getOrUndefined(HeaderParam.headerParams(schema))
  }

  /**
   * Whether a call was refused because the tool runs as a task and nothing else, which was not known yet: it was not carried
   * out (TOL-23).
   */
  const neededTask = (failure: PeerFailure, { name, support }: Call): Effect.Effect<boolean> =>
    failure._tag !== "PeerError" || failure.code !== Codes.methodNotFound || support !== undefined ||
      known.get(name) !== undefined
      ? Effect.succeed(false)
      : Effect.match(lists.refreshTools, {
        onFailure: () => false,
        onSuccess: () => known.get(name)?.execution?.taskSupport === "required"
      })

  /**
   * The server wants other headers than were sent: its tools are listed anew, and the call is sent once more with what they
   * say. It was not carried out before (XH-13).
   */
  const refreshed = <A>(
    { headerParams, name }: Call,
    again: (headerParams: () => HeaderParams) => Effect.Effect<A, McpClientError>
  ) =>
  (error: McpClientError): Effect.Effect<A, McpClientError> =>
    error.reason._tag === "Refused" && error.reason.code === Codes.headerMismatch
      ? Effect.matchEffect(lists.refreshTools, {
        onFailure: () => Effect.fail(error),
        onSuccess: () => again(() => listedParams(name) ?? headerParams())
      })
      : Effect.fail(error)

  const start: Starter["start"] = (call, course, read) => {
    const { args, name } = call
    const params = args === undefined ? { name } : { name, arguments: args }
    const once = (retry: Retry | undefined, options: RequestOptions | undefined, headerParams: () => HeaderParams) =>
      requests.useNow(method, (live, merged) => {
        const mirrored = isHttp ? headersFor(live, headerParams(), args ?? {}) : undefined
        const full = live.capabilities.tasks === undefined ? params : withTask(live, params, call, known)
        course.mayBeTask = full !== params || Capabilities.hasExtension(live.capabilities, Task.extensionId)
        const headed = mirrored === undefined ? merged : { ...merged, headers: { ...mirrored, ...merged.headers } }
        const send = (params: Tool.CallParams) =>
          live.session.peer.request(Methods.ToolsCall, retry === undefined ? params : { ...params, ...retry }, headed)
        return live.capabilities.tasks === undefined || course.mayBeTask ? send(full) : Effect.catch(
          send(full),
          (failure) =>
            Effect.flatMap(neededTask(failure, call), (needed) => {
              course.mayBeTask = needed
              return needed ? send({ ...params, task: {} }) : Effect.fail(failure)
            })
        )
      }, options)
    return inRounds(
      method,
      (retry, options) => {
        const sent = once(retry, options, call.headerParams)
        return isHttp
          ? Effect.catch(sent, refreshed(call, (headerParams) => once(retry, options, headerParams)))
          : sent
      },
      call.options,
      read
    )
  }

  const byName: Starter["byName"] = (name, args, options) => ({
    name,
    args,
    headerParams: () => listedParams(name) ?? [],
    options,
    support: undefined,
    task: undefined
  })

  return { start, byName }
}
