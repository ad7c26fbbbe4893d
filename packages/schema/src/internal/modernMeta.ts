/** `_meta` of a request on 2026-07-28: the keys that must be there are, and all of them are what they should be. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Capabilities from "../Capabilities.ts"
import { Implementation } from "../Implementation.ts"
import type { JsonObject } from "../JsonRpc.ts"
import { Level } from "../Logging.ts"
import { readEnvelope } from "../Meta.ts"
import * as MetaKey from "../MetaKey.ts"
import { isRequestMeta, ProgressToken } from "./fields.ts"
import { generated } from "./json.ts"

export const isModernMeta = (u: unknown): u is JsonObject => {
  if (!isRequestMeta(u)) return false
  const envelope = readEnvelope(u)
  return Result.isSuccess(envelope) && envelope.success !== undefined
}

export const ModernMeta = Schema.declare<JsonObject>(isModernMeta, {
  expected: "an object with the keys of the envelope",
  toCodecArbitrary: generated<JsonObject>()(Schema.Struct({
    [MetaKey.protocolVersion]: Schema.String,
    [MetaKey.clientCapabilities]: Capabilities.Client.schema,
    [MetaKey.clientInfo]: Schema.optionalKey(Implementation),
    [MetaKey.logLevel]: Schema.optionalKey(Level),
    progressToken: Schema.optionalKey(ProgressToken)
  }))
})
