/** Members that many messages share. */
import * as Schema from "effect/Schema"
import { isJsonObject, isRequestId, type JsonObject as Object_ } from "../JsonRpc.ts"
import { generated, JsonObject } from "./json.ts"

/** A token is what a request id is: a string or an integer (PRG-01). */
export const isProgressToken = isRequestId

export const ProgressToken = Schema.Union([Schema.String, Schema.Int])

export const isRequestMeta = (u: unknown): u is Object_ =>
  isJsonObject(u) && (u["progressToken"] === undefined || isProgressToken(u["progressToken"]))

/** `_meta` of a request: any object, with a progress token that is one if it is there. */
export const RequestMeta = Schema.declare<Object_>(isRequestMeta, {
  expected: "an object whose progressToken is a string or an integer",
  toCodecArbitrary: generated<Object_>()(Schema.Struct({ progressToken: Schema.optionalKey(ProgressToken) }))
})

/** `_meta` of anything but a request. */
export const meta = { _meta: Schema.optionalKey(JsonObject) }

export const requestMeta = { _meta: Schema.optionalKey(RequestMeta) }

/** What every complete result may carry; an absent `resultType` means complete (RPC-14). */
export const result = { ...meta, resultType: Schema.optionalKey(Schema.Literal("complete")) }

/** How long, and for whom, a result may be kept (CCH-01). Absent, zero or negative means not at all (CCH-06). */
export const cache = {
  ttlMs: Schema.optionalKey(Schema.Finite),
  cacheScope: Schema.optionalKey(Schema.Literals(["public", "private"]))
}

export const page = { nextCursor: Schema.optionalKey(Schema.String) }
