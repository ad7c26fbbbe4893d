import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as MetaKey from "@mcpfx/schema/MetaKey"
export interface Envelope { readonly protocolVersion: string; readonly clientCapabilities: JsonRpc.JsonObject; readonly clientInfo?: unknown; readonly logLevel?: unknown }
export type Claim = { readonly _tag: "None" } | { readonly _tag: "Invalid"; readonly reason: string } | { readonly _tag: "Ok"; readonly envelope: Envelope }
export const modernEnvelope = (params: JsonRpc.JsonObject | undefined): Claim => {
  const meta = params?.["_meta"]
  if (!JsonRpc.isJsonObject(meta)) return { _tag: "None" }
  const v = meta[MetaKey.protocolVersion], c = meta[MetaKey.clientCapabilities]
  if (v === undefined && c === undefined && meta[MetaKey.clientInfo] === undefined && meta[MetaKey.logLevel] === undefined) return { _tag: "None" }
  if (typeof v !== "string") return { _tag: "Invalid", reason: "bad " + MetaKey.protocolVersion }
  if (!JsonRpc.isJsonObject(c)) return { _tag: "Invalid", reason: "bad " + MetaKey.clientCapabilities }
  return { _tag: "Ok", envelope: { protocolVersion: v, clientCapabilities: c } }
}
