/** The methods that run what is registered: calls, reads, prompts and completions. */
import * as Completion from "@mcpfx/schema/Completion"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import * as Methods from "@mcpfx/schema/Methods"
import * as Outcome from "@mcpfx/schema/Outcome"
import type * as Tool from "@mcpfx/schema/Tool"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type { CacheHint, Complete, EntryFacts, InvalidArguments, RequestServices } from "../Entry.ts"
import { entering } from "./enter.ts"
import { find, isVisible } from "./entries.ts"
import { isExit } from "./exit.ts"
import type { Answer, Lane, Request, Wire } from "./lane.ts"
import type { Tasks } from "./parts.ts"

type Run<Result_, E> = Effect.Effect<Result_, E, RequestServices>

/** Runs a handler with the facts of its request; at most so many at a time. */
export type Gate = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** Any number at a time. */
export const ungated: Gate = (effect) => effect

/** What `run` gives is a result on the wire already. */
const serving = <Params, Result_>(
  wire: Wire<Params, Result_>,
  gate: Gate,
  run: (params: Params, context: Request) => Run<JsonRpc.JsonObject, McpError.McpError>,
  early?: (params: Params, context: Request) => Answer | undefined
) =>
(request: JsonRpc.Request, context: Request): Answer => {
  const params = wire.decode(request)
  if (Result.isFailure(params)) return Effect.fail(params.failure)
  const answered = early?.(params.success, context)
  if (answered !== undefined) return answered
  const begin = () => entering(run(params.success, context), context)
  // Where only so many run at a time, nothing of a handler is begun before its turn.
  return gate === ungated ? begin() : gate(Effect.suspend(begin))
}

const serve = <Params, Result_>(
  wire: Wire<Params, Result_>,
  gate: Gate,
  run: (params: Params, context: Request) => Run<Result_, McpError.McpError>
) => serving(wire, gate, (params, context) => Effect.mapEager(run(params, context), wire.encode))

/** What a tool's arguments being wrong means on this revision (TOL-13, TOL-14). */
const recover =
  (lane: Lane, wire: Wire<unknown, Outcome.ToolCall>) => (error: McpError.McpError | InvalidArguments) => {
    if (error._tag !== "InvalidArguments") return Effect.fail(error)
    const text = error.describe()
    return lane.revision.features.invalidArguments === "error"
      ? Effect.fail(new McpError.InvalidParams({ detail: text }))
      : Effect.succeed(wire.encode({ content: [{ type: "text", text }], isError: true }))
  }

export const addTools = (lane: Lane, gate: Gate, tasks: Tasks | undefined): void =>
  lane.add(Methods.ToolsCall, (wire) => {
    const onFailure = recover(lane, wire)
    const asTask = tasks?.call(lane, gate, wire)
    const early = (params: Tool.CallParams, context: Request): Answer | undefined => {
      if (asTask === undefined || !lane.offer().tasks) return undefined
      const entry = lane.snapshot().tool(params.name)
      return entry === undefined || !isVisible(entry, context) ? undefined : asTask(entry, params, context)
    }
    const outcome = { onFailure, onSuccess: (result: Outcome.ToolCall) => Effect.succeed(wire.encode(result)) }
    return serving(wire, gate, (params, context) => {
      const entry = lane.snapshot().tool(params.name)
      if (entry === undefined || !isVisible(entry, context)) {
        return Effect.fail(new McpError.ToolNotFound({ name: params.name }))
      }
      const run = entry.run(params)
      return isExit(run) && Exit.isSuccess(run)
        ? Effect.succeed(wire.encode(run.value))
        : Effect.matchEffect(run, outcome)
    }, early)
  })

export const addPrompts = (lane: Lane, gate: Gate): void =>
  lane.add(Methods.PromptsGet, (wire) =>
    serve(wire, gate, (params, context) => {
      const entry = lane.snapshot().prompt(params.name)
      return entry === undefined || !isVisible(entry, context)
        ? Effect.fail(new McpError.PromptNotFound({ name: params.name }))
        : entry.get(params)
    }))

const stale: CacheHint = { ttlMs: 0, scope: "private" }

/** What only some may read is nobody else's to keep, and so is what was reached through questions (CCH-04, CCH-12). */
const hintOf = (entry: EntryFacts & { readonly cache: CacheHint | undefined }, context: Request): CacheHint => {
  if (entry.cache === undefined || context.round > 1) return stale
  return entry.visible === undefined && entry.scopes.length === 0 ? entry.cache : { ...entry.cache, scope: "private" }
}

const hinted = (hint: CacheHint) => (outcome: Outcome.ResourceRead): Outcome.ResourceRead =>
  Outcome.isInputRequired(outcome) ? outcome : { ttlMs: hint.ttlMs, cacheScope: hint.scope, ...outcome }

const notFound = (uri: string): McpError.McpError =>
  URL.canParse(uri)
    ? new McpError.ResourceNotFound({ uri })
    : new McpError.InvalidParams({ detail: "uri is not a URI", data: { uri } })

export const addResources = (lane: Lane, gate: Gate): void =>
  lane.add(Methods.ResourcesRead, (wire) =>
    serve(wire, gate, (params, context) => {
      const found = find(lane.snapshot(), params.uri, context)
      if (found === undefined) return Effect.fail(notFound(params.uri))
      if (lane.revision.era === "legacy") return found.read
      return Effect.mapEager(found.read, hinted(hintOf(found.entry, context)))
    }))

const noValues: Completion.Result = { completion: { values: [] } }

const capped = (result: Completion.Result): Completion.Result => {
  const { values } = result.completion
  if (values.length <= Completion.maxValues) return result
  return { ...result, completion: { ...Completion.offer(values).completion, ...totalOf(result) } }
}

/** A completer that knows the total knows it better than the length of what it gave. */
const totalOf = (result: Completion.Result) =>
  result.completion.total === undefined ? undefined : { total: result.completion.total }

interface Completer {
  /** `undefined` where any value will do. */
  readonly complete: Complete | undefined
}

/** The completer that is asked for; a string says what is wrong with the question (CMP-03). */
const completer = (lane: Lane, params: Completion.Params, context: Request): Completer | McpError.McpError => {
  const { argument, ref } = params
  const snapshot = lane.snapshot()
  if (ref.type === "ref/prompt") {
    const entry = snapshot.prompt(ref.name)
    if (entry === undefined || !isVisible(entry, context)) return new McpError.PromptNotFound({ name: ref.name })
    if (entry.descriptor.arguments?.some((known) => known.name === argument.name) !== true) {
      return new McpError.InvalidParams({ detail: `Prompt ${ref.name} has no argument ${argument.name}` })
    }
    return { complete: entry.completions.get(argument.name) }
  }
  const entry = snapshot.template(ref.uri)
  if (entry !== undefined && isVisible(entry, context)) return { complete: entry.completions.get(argument.name) }
  const resource = snapshot.resource(ref.uri)
  return resource !== undefined && isVisible(resource, context)
    ? { complete: undefined }
    : new McpError.InvalidParams({ detail: `Unknown resource template: ${ref.uri}`, data: { uri: ref.uri } })
}

const noSiblings: Readonly<Record<string, string>> = {}

export const addCompletions = (lane: Lane, gate: Gate): void =>
  lane.add(Methods.CompletionComplete, (wire) =>
    serve(wire, gate, (params, context) => {
      const found = completer(lane, params, context)
      if (!("complete" in found)) return Effect.fail(found)
      return found.complete === undefined
        ? Effect.succeed(noValues)
        : Effect.map(found.complete(params.argument.value, params.context?.arguments ?? noSiblings), capped)
    }))
