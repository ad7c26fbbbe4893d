/**
 * How a method that is not the protocol's own is written and read: by its own schemas, inside what the revision asks of all.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { InvalidContract } from "../InvalidContract.ts"
import { isJsonObject, type JsonObject } from "../JsonRpc.ts"
import * as JsonSchema from "../JsonSchema.ts"
import type { InvalidShape, NotificationCodec, RequestCodec, Revision, Sender } from "../Revision.ts"
import type { SchemaMismatch } from "../SchemaMismatch.ts"
import type { Plain } from "./contractSpec.ts"
import { schemaSide } from "./side.ts"

type Kind = "method" | "notification"
type AnyCodec = Schema.Codec<unknown, unknown>
type Decode = (wire: unknown) => Result.Result<unknown, InvalidShape>

export const refuse = (kind: Kind | "extension", name: string, reason: string): never => {
  throw new InvalidContract({ kind, name, reason })
}

/** The encoded side, which is what travels. */
const encodedOf = (ast: SchemaAST.AST): SchemaAST.AST => {
  const last = ast.encoding?.at(-1)
  return last === undefined ? ast : encodedOf(last.to)
}

export const encodesObject = (ast: SchemaAST.AST): boolean => {
  const encoded = encodedOf(ast)
  return encoded._tag === "Objects" || encoded._tag === "Suspend" || encoded._tag === "Declaration" ||
    (encoded._tag === "Union" && encoded.types.every(encodesObject))
}

/** Whether a schema gives a meaning to a member that the protocol puts on everything. */
const names = (ast: SchemaAST.AST, key: string): boolean => {
  const encoded = encodedOf(ast)
  if (encoded._tag === "Suspend") return names(encoded.thunk(), key)
  if (encoded._tag === "Union") return encoded.types.some((type) => names(type, key))
  return encoded._tag === "Objects" && encoded.propertySignatures.some((signature) => signature.name === key)
}

const without = (object: JsonObject, keys: ReadonlyArray<string>): JsonObject =>
  keys.some((key) => Object.hasOwn(object, key))
    ? Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)))
    : object

const nothing: JsonObject = {}
const Nothing: AnyCodec = Schema.Record(Schema.String, Schema.Unknown)

/** One half of a method: its params, or its result. */
export interface Half {
  readonly schema: AnyCodec
  readonly decode: Decode
  /** Throws the `SchemaMismatch` of a value that is not of the schema. */
  readonly encode: (value: unknown) => JsonObject
  readonly tryEncode: (value: unknown) => Result.Result<JsonObject, SchemaMismatch>
  /** Whether the schema has a meaning for a member that the protocol puts on everything. */
  readonly names: (key: string) => boolean
}

/**
 * The members of `reserved` are the protocol's: a schema that does not name them does not see them, however strict or open it
 * is.
 */
export const half = (
  kind: Kind,
  name: string,
  side: "input" | "output",
  schema: Plain<unknown>,
  reserved: ReadonlyArray<string>
): Half => {
  const codec = JsonSchema.codec<unknown, never, never>(schema)
  if (!encodesObject(codec.ast)) {
    refuse(kind, name, `the encoded side of its ${side === "input" ? "params" : "result"} is not always an object`)
  }
  const { decode, encode } = schemaSide<unknown>(name, side, () => codec)
  let hidden: ReadonlyArray<string> | undefined
  const invalid = (message: () => string): Result.Result<never, InvalidShape> =>
    Result.fail({ _tag: "InvalidShape", method: name, message })
  const tryEncode: Half["tryEncode"] = (value) =>
    Result.map(encode(value), (encoded) => isJsonObject(encoded) ? encoded : nothing)
  return {
    schema: codec,
    tryEncode,
    encode: (value) => Result.getOrThrowWith(tryEncode(value), (mismatch) => mismatch),
    names: (key) => names(codec.ast, key),
    decode: (wire = nothing) => {
      if (!isJsonObject(wire)) return invalid(() => "Expected an object")
      hidden ??= reserved.filter((key) => !names(codec.ast, key))
      const decoded = decode(without(wire, hidden))
      return Result.isSuccess(decoded) ? Result.succeed(decoded.success) : invalid(() => decoded.failure.message())
    }
  }
}

/** The half that says nothing: whatever is there is left alone. */
export const silent = <A>(value: A): Half => ({
  schema: Nothing,
  decode: () => Result.succeed(value),
  encode: () => nothing,
  tryEncode: () => Result.succeed(nothing),
  names: () => false
})

/** Results of 2026-07-28 say that they are complete, unless their schema has other words for how they end. */
const completing = (result: Half, name: string) => {
  const own = result.names("resultType")
  const decode: Decode = (wire) => {
    const type = isJsonObject(wire) ? wire["resultType"] : undefined
    return own || type === undefined || type === "complete"
      ? result.decode(wire)
      : Result.fail({ _tag: "InvalidShape", method: name, message: () => "resultType: the method has no such result" })
  }
  const encode = (value: unknown): JsonObject => {
    const encoded = result.encode(value)
    return encoded["resultType"] === undefined ? { resultType: "complete", ...encoded } : encoded
  }
  return { decode, encode }
}

export const reservedInParams = ["_meta"]
export const reservedInResult = ["_meta", "resultType"]

/** Who may send a method on a revision; `undefined` where it does not exist. */
export type Senders = (revision: Revision) => Sender | undefined

const perSender = <Codec>(make: (sender: Sender) => Codec): (sender: Sender) => Codec => {
  const made = new Map<Sender, Codec>()
  return (sender) => {
    const known = made.get(sender)
    if (known !== undefined) return known
    const codec = make(sender)
    made.set(sender, codec)
    return codec
  }
}

export const requestCodec = (
  name: string,
  params: Half,
  result: Half,
  senders: Senders
): (revision: Revision) => RequestCodec<unknown, unknown> | undefined => {
  const legacy = perSender((sender) => ({
    name,
    sender,
    wire: { params: params.schema, result: result.schema },
    decodeParams: params.decode,
    encodeParams: params.encode,
    decodeResult: result.decode,
    encodeResult: result.encode
  }))
  const modern = perSender((sender) => {
    const complete = completing(result, name)
    return { ...legacy(sender), decodeResult: complete.decode, encodeResult: complete.encode }
  })
  return (revision) => {
    const sender = senders(revision)
    return sender === undefined ? undefined : revision.era === "modern" ? modern(sender) : legacy(sender)
  }
}

export const notificationCodec = (
  name: string,
  params: Half,
  senders: Senders
): (revision: Revision) => NotificationCodec<unknown> | undefined => {
  const codec = perSender((sender) => ({
    name,
    sender,
    wire: { params: params.schema },
    decodeParams: params.decode,
    encodeParams: params.encode
  }))
  return (revision) => {
    const sender = senders(revision)
    return sender === undefined ? undefined : codec(sender)
  }
}
