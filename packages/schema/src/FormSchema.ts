/**
 * The flat schema of a form: an object whose properties are primitives or choices (ELI-05, ELI-06).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

const text = { title: Schema.optionalKey(Schema.String), description: Schema.optionalKey(Schema.String) }
const Choice = Schema.Struct({ const: Schema.String, title: Schema.String })
const Strings = Schema.Array(Schema.String)
const count = Schema.optionalKey(Schema.Int)

/**
 * Free text. `default` exists from 2025-11-25 on.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Text = Schema.Struct({
  type: Schema.Literal("string"),
  ...text,
  minLength: count,
  maxLength: count,
  format: Schema.optionalKey(Schema.Literals(["email", "uri", "date", "date-time"])),
  default: Schema.optionalKey(Schema.String)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Text extends Schema.Schema.Type<typeof Text> {}

/**
 * A number or an integer. `default` exists from 2025-11-25 on.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Numeric = Schema.Struct({
  type: Schema.Literals(["number", "integer"]),
  ...text,
  minimum: Schema.optionalKey(Schema.Finite),
  maximum: Schema.optionalKey(Schema.Finite),
  default: Schema.optionalKey(Schema.Finite)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Numeric extends Schema.Schema.Type<typeof Numeric> {}

/**
 * Yes or no.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Toggle = Schema.Struct({
  type: Schema.Literal("boolean"),
  ...text,
  default: Schema.optionalKey(Schema.Boolean)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Toggle extends Schema.Schema.Type<typeof Toggle> {}

/**
 * One of some strings, with their names to show in `enumNames` where older clients are to understand them.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Enumeration = Schema.Struct({
  type: Schema.Literal("string"),
  ...text,
  enum: Strings,
  enumNames: Schema.optionalKey(Strings),
  default: Schema.optionalKey(Schema.String)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Enumeration extends Schema.Schema.Type<typeof Enumeration> {}

/**
 * One of some titled strings, from 2025-11-25 on.
 *
 * @category schemas
 * @since 0.1.0
 */
export const TitledEnumeration = Schema.Struct({
  type: Schema.Literal("string"),
  ...text,
  oneOf: Schema.Array(Choice),
  default: Schema.optionalKey(Schema.String)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface TitledEnumeration extends Schema.Schema.Type<typeof TitledEnumeration> {}

const many = { type: Schema.Literal("array"), ...text, minItems: count, maxItems: count }

/**
 * Some of some strings, from 2025-11-25 on.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Selection = Schema.Struct({
  ...many,
  items: Schema.Struct({ type: Schema.Literal("string"), enum: Strings }),
  default: Schema.optionalKey(Strings)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Selection extends Schema.Schema.Type<typeof Selection> {}

/**
 * Some of some titled strings, from 2025-11-25 on.
 *
 * @category schemas
 * @since 0.1.0
 */
export const TitledSelection = Schema.Struct({
  ...many,
  items: Schema.Struct({ anyOf: Schema.Array(Choice) }),
  default: Schema.optionalKey(Strings)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface TitledSelection extends Schema.Schema.Type<typeof TitledSelection> {}

/**
 * What a property of a form may be.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Property = Schema.Union([
  Enumeration,
  TitledEnumeration,
  Selection,
  TitledSelection,
  Toggle,
  Numeric,
  Text
])

/**
 * @category models
 * @since 0.1.0
 */
export type Property = typeof Property.Type

/**
 * @category schemas
 * @since 0.1.0
 */
export const FormSchema = Schema.Struct({
  $schema: Schema.optionalKey(Schema.String),
  type: Schema.Literal("object"),
  properties: Schema.Record(Schema.String, Property),
  required: Schema.optionalKey(Strings)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface FormSchema extends Schema.Schema.Type<typeof FormSchema> {}
