/** Messages that are not the protocol's own: read, handled with what is around the handler, and, for requests, written. */
import type * as Method from "@mcpfx/schema/Method"
import { SchemaMismatch } from "@mcpfx/schema/SchemaMismatch"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Target } from "../Call.ts"
import type { ListenerEntry, MethodEntry, RequestServices } from "../Entry.ts"
import { ResultMismatch } from "../ServerError.ts"
import { type Enclosing, isBare, wrap } from "./enclosing.ts"
import { refuse } from "./failures.ts"

type Handled<A> = Effect.Effect<A, unknown, RequestServices>

/** Lays the middleware around a handler; what middleware made of params or result is checked by the method's schemas. */
const through = <Name extends string, Params, Result_>(
  method: Method.RequestMethod<Name, Params, Result_>,
  enclosing: Enclosing,
  handle: (params: Params) => Handled<Result_>
): (params: Params) => Handled<unknown> => {
  const target: Target = { kind: "method", name: method.name }
  const broken = (detail: string) => Effect.die(new ResultMismatch({ kind: "method", name: method.name, detail }))
  const isParams = (u: unknown): u is Params =>
    method.custom === undefined || Result.isSuccess(method.custom.encodeParams(u))
  return (params) =>
    wrap(enclosing, (call) => {
      if (call.kind !== "method") return broken(`middleware made a call of kind "${call.kind}" of it`)
      if (call.params === params) return handle(params)
      return isParams(call.params) ? handle(call.params) : broken("middleware made params that it does not take")
    })({ kind: "method", target, contract: method, params })
}

/** How a method is answered, revision by revision. */
export const answering = <Name extends string, Params, Result_>(
  method: Method.RequestMethod<Name, Params, Result_>,
  enclosing: Enclosing,
  handle: (params: Params) => Handled<Result_>
): MethodEntry["on"] => {
  const run: (params: Params) => Handled<unknown> = isBare(enclosing) ? handle : through(method, enclosing, handle)
  const mismatch = (thrown: unknown): ResultMismatch =>
    new ResultMismatch({
      kind: "method",
      name: method.name,
      detail: thrown instanceof SchemaMismatch ? thrown.message() : "what it returned cannot be written"
    })
  return (revision) => {
    const codec = revision.request(method)
    if (codec === undefined || codec.sender === "server") return undefined
    // Middleware may have made anything of the result, so that it is written by what takes anything.
    const encoder = method.custom === undefined ? revision.requestByName(method.name) : method.custom.on(revision)
    if (encoder === undefined) return undefined
    const encode = (value: unknown) => {
      const written = Result.try({ try: () => encoder.encodeResult(value), catch: mismatch })
      return Result.isSuccess(written) ? Effect.succeed(written.success) : Effect.die(written.failure)
    }
    return (wire) =>
      Result.map(
        codec.decodeParams(wire),
        (params) => Effect.matchEffect(Effect.suspend(() => run(params)), { onFailure: refuse, onSuccess: encode })
      )
  }
}

/** How a notification is heard, revision by revision. Nobody can be told what its handler fails with: it is a defect. */
export const hearing = <Name extends string, Params>(
  method: Method.NotificationMethod<Name, Params>,
  handle: (params: Params) => Handled<unknown>
): ListenerEntry["on"] =>
(revision) => {
  const codec = revision.notification(method)
  if (codec === undefined || codec.sender === "server") return undefined
  return (wire) =>
    Result.map(codec.decodeParams(wire), (params) => Effect.asVoid(Effect.orDie(Effect.suspend(() => handle(params)))))
}
