/** JSON values as schemas: guards that look at the outermost value only, since what comes from `JSON.parse` is JSON. */
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { isJsonObject, type JsonObject as Object_ } from "../JsonRpc.ts"

/** How values of a declared schema are generated: by a schema whose values are among them. */
export const generated = <A>() => <B extends A>(by: Schema.Codec<B, unknown>) => () =>
  Schema.link<A>()(by, {
    decode: SchemaGetter.transform((value: B): A => value),
    encode: SchemaGetter.forbidden<B, A>(() => "values are only generated this way")
  })

/** Any JSON object; its members are not looked at. */
export const JsonObject = Schema.declare<Object_>(isJsonObject, {
  expected: "an object",
  toCodecArbitrary: generated<Object_>()(Schema.Record(Schema.String, Schema.Json))
})

const isJsonValue = (u: unknown): u is unknown => u !== undefined

/** Any JSON value, `null` included, `undefined` not; its insides are not looked at. */
export const JsonValue = Schema.declare<unknown>(isJsonValue, {
  expected: "a value",
  toCodecArbitrary: generated<unknown>()(Schema.Json)
})

const Rest = Schema.Record(Schema.String, Schema.Unknown)

/** A struct that keeps the members it does not name. */
export const open = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Schema.Struct(fields), [Rest])

/** A record of JSON objects: the value of `experimental` and `extensions`. */
export const JsonObjects = Schema.Record(Schema.String, JsonObject)

/** A number from 0 to 1. */
export const Unit = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
