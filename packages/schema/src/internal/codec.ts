/** How a method of one revision is put together from its shapes and projections. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { isJsonObject, type JsonObject } from "../JsonRpc.ts"
import type * as Method from "../Method.ts"
import type { InvalidShape, Sender } from "../Revision.ts"
import type { Project } from "./project.ts"

type AnySchema = Schema.Codec<unknown, unknown>

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** What is wrong with `value`, in one line that names members but shows no values. */
const describe = (schema: AnySchema, value: unknown): string => {
  const decoded = Schema.decodeUnknownResult(schema)(value)
  if (Result.isSuccess(decoded)) return "Not of the shape the method asks for"
  return format(decoded.failure.issue).issues.map(({ message, path }) =>
    path === undefined || path.length === 0 ? message : `${path.map(String).join(".")}: ${message}`
  ).join("; ")
}

/** Reads a wire object: the value, or `undefined` when its shape is wrong. */
export interface Reader<out A> {
  readonly schema: AnySchema
  readonly read: (wire: JsonObject) => A | undefined
}

/** Checks the shape and gives back the very object, so that members no revision knows stay on it. */
export const reader = <A>(schema: Schema.Codec<A, unknown>): Reader<JsonObject & A> => {
  const is = Schema.is(schema)
  return { schema, read: (wire) => is(wire) ? wire : undefined }
}

/** As the reader given, with something to do to what has been read. */
export const map = <A, B>(self: Reader<A>, f: (value: A) => B | undefined): Reader<B> => ({
  schema: self.schema,
  read: (wire) => {
    const value = self.read(wire)
    return value === undefined ? undefined : f(value)
  }
})

/** As the reader given, on an object that a projection has prepared. */
export const after = <A>(self: Reader<A>, project: Project): Reader<A> => ({
  schema: self.schema,
  read: (wire) => self.read(project(wire))
})

/** As the reader given, which is not asked about objects that `is` already knows to be right. */
export const quick = <A extends object>(
  self: Reader<A>,
  is: (wire: JsonObject) => wire is JsonObject & A
): Reader<A> => ({
  schema: self.schema,
  read: (wire) => is(wire) ? wire : self.read(wire)
})

/** The reader that `select` picks for the object at hand. */
export const either = <A>(fallback: Reader<A>, select: (wire: JsonObject) => Reader<A> | undefined): Reader<A> => ({
  schema: fallback.schema,
  read: (wire) => (select(wire) ?? fallback).read(wire)
})

const nothing: JsonObject = {}

const decoder = <A>(method: string, reader: Reader<A>) => (wire: unknown): Result.Result<A, InvalidShape> => {
  const value = wire === undefined ? nothing : wire
  if (isJsonObject(value)) {
    const read = reader.read(value)
    if (read !== undefined) return Result.succeed(read)
  }
  return Result.fail({ _tag: "InvalidShape", method, message: () => describe(reader.schema, value) })
}

const encoder = (project: Project) => (value: unknown): JsonObject => isJsonObject(value) ? project(value) : nothing

export interface RequestSpec<P, R> {
  readonly params: Reader<P>
  readonly writeParams: Project
  /** The exact wire shape of the result. */
  readonly result: AnySchema
  /** What of a result is asked for when it is read. */
  readonly readResult: Reader<R>
  readonly writeResult: Project
}

/** A request's codec; encoding takes any object, so that one value serves under its own type and under `unknown`. */
export const requestCodec = <P, R>(
  method: Method.RequestMethod<string, P, R>,
  sender: Sender,
  spec: RequestSpec<P, R>
) => ({
  name: method.name,
  sender,
  wire: { params: spec.params.schema, result: spec.result },
  decodeParams: decoder(method.name, spec.params),
  encodeParams: encoder(spec.writeParams),
  decodeResult: decoder(method.name, spec.readResult),
  encodeResult: encoder(spec.writeResult)
})

export interface NotificationSpec<P> {
  readonly params: Reader<P>
  readonly writeParams: Project
}

export const notificationCodec = <P>(
  method: Method.NotificationMethod<string, P>,
  sender: Sender,
  spec: NotificationSpec<P>
) => ({
  name: method.name,
  sender,
  wire: { params: spec.params.schema },
  decodeParams: decoder(method.name, spec.params),
  encodeParams: encoder(spec.writeParams)
})
