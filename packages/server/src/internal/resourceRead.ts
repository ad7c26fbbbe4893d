/** One read of a resource: the handler with what is around it, and its contents written. */
import { ResourceNotFound } from "@mcpfx/schema/McpError"
import type * as Resource from "@mcpfx/schema/Resource"
import type * as ResourceContract from "@mcpfx/schema/ResourceContract"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Target } from "../Call.ts"
import type { RequestServices, ResourceEntry, TemplateEntry } from "../Entry.ts"
import { type Refusal, ResultMismatch } from "../ServerError.ts"
import * as Contents from "./contents.ts"
import { type Enclosing, isBare, wrap } from "./enclosing.ts"
import { isExit } from "./exit.ts"
import { refuse } from "./failures.ts"

type Handled = Effect.Effect<unknown, unknown, RequestServices>
type Answer = Effect.Effect<Resource.ReadResult, Refusal, RequestServices>

const noVariables = {}

/** Writes what a handler returned; a value is told from a {@link Contents.Result} by its class alone. */
const makeEncode = (contract: ResourceContract.Common<unknown>, target: Target) => {
  const mismatch = (detail: string) => Effect.die(new ResultMismatch({ ...target, detail }))

  const pieces = (uri: string, value: unknown, extra?: Partial<Resource.ReadResult>): Answer => {
    if (!Contents.isPieces(value)) return mismatch("what it returned is neither text nor bytes nor contents")
    const contents = Contents.write(value, uri, contract.mimeType)
    // A resource that has no contents is one that is not there (RES-05).
    return contents.length === 0 ? Effect.fail(new ResourceNotFound({ uri })) : Effect.succeed({ contents, ...extra })
  }

  const typed = (uri: string, value: unknown, extra?: Partial<Resource.ReadResult>): Answer => {
    const encoded = contract.encodeContent(value)
    return Result.isSuccess(encoded)
      ? pieces(uri, encoded.success, extra)
      : mismatch(encoded.failure.message())
  }

  const whole = (uri: string, result: Contents.Result<unknown>): Answer => {
    const extra = {
      ...(result.cache === undefined ? undefined : { ttlMs: result.cache.ttlMs, cacheScope: result.cache.scope }),
      ...(result.meta === undefined ? undefined : { _meta: result.meta })
    }
    return Option.isSome(result.value) ? typed(uri, result.value.value, extra) : pieces(uri, result.contents, extra)
  }

  return (uri: string, value: unknown): Answer => {
    if (value instanceof Contents.Result) return whole(uri, value)
    return contract.hasContent ? typed(uri, value) : pieces(uri, value)
  }
}

const finish = (uri: string, effect: Handled, encode: (uri: string, value: unknown) => Answer): Answer =>
  Effect.matchEffect(effect, { onFailure: refuse, onSuccess: (value) => encode(uri, value) })

export const readResource = (
  contract: ResourceContract.AnyContract,
  enclosing: Enclosing,
  handle: (uri: string) => Handled
): ResourceEntry["read"] => {
  const target: Target = { kind: "resource", name: contract.uri }
  const encode = makeEncode(contract, target)
  const bare = isBare(enclosing)
  const run = wrap(enclosing, (call) =>
    call.kind === "resource"
      ? handle(call.uri)
      : Effect.die(new ResultMismatch({ ...target, detail: `middleware made a call of kind "${call.kind}" of it` })))
  return (uri) =>
    Effect.suspend(() => {
      const effect = bare
        ? handle(uri)
        : run({ kind: "resource", target, contract, uri, variables: noVariables })
      return isExit(effect) && effect._tag === "Success" ? encode(uri, effect.value) : finish(uri, effect, encode)
    })
}

export const readTemplate = <Uri extends string, Params, Content>(
  contract: ResourceContract.TemplateContract<Uri, Params, Content>,
  enclosing: Enclosing,
  handle: (params: Params, uri: string) => Handled
): TemplateEntry["match"] => {
  const target: Target = { kind: "template", name: contract.uriTemplate }
  const any: ResourceContract.AnyTemplateContract = contract
  const encode = makeEncode(contract, target)
  const bare = isBare(enclosing)
  const mismatch = (detail: string) => Effect.die(new ResultMismatch({ ...target, detail }))
  const isParams = (u: unknown): u is Params => Result.isSuccess(any.expand(u))

  const through = (params: Params, uri: string): Handled =>
    wrap(enclosing, (call) => {
      if (call.kind !== "resource") return mismatch(`middleware made a call of kind "${call.kind}" of it`)
      if (call.variables === params) return handle(params, call.uri)
      return isParams(call.variables)
        ? handle(call.variables, call.uri)
        : mismatch("middleware made variables that it does not take")
    })({ kind: "resource", target, contract, uri, variables: params })

  return (uri) => {
    const params = Option.map(contract.match(uri), (variables) => contract.decodeParams(variables))
    if (Option.isNone(params) || Result.isFailure(params.value)) return undefined
    const decoded = params.value.success
    return Effect.suspend(() => finish(uri, bare ? handle(decoded, uri) : through(decoded, uri), encode))
  }
}
