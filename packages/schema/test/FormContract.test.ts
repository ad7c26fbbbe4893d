import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as fc from "fast-check"
import * as FormContract from "../src/FormContract.ts"
import { FormSchema } from "../src/FormSchema.ts"
import { InvalidContract } from "../src/InvalidContract.ts"
import * as JsonSchema from "../src/JsonSchema.ts"
import * as Methods from "../src/Methods.ts"
import * as Revisions from "../src/Revisions.ts"

const propertyOf = (field: Schema.Top) => {
  const schema: FormContract.Form<unknown> = Schema.Struct({ f: Schema.make<Schema.Codec<unknown>>(field.ast) })
  return FormContract.make(schema).form.properties["f"]
}

describe("fields", () => {
  it("[ELI-05] texts, numbers and booleans with their remarks, bounds and defaults", () => {
    const email = Schema.String.annotate({ title: "T", description: "D", format: "email", default: "a@b" })
    assert.deepStrictEqual(propertyOf(email), {
      type: "string",
      title: "T",
      description: "D",
      format: "email",
      default: "a@b"
    })
    assert.deepStrictEqual(propertyOf(Schema.String.check(Schema.isMaxLength(5))), { type: "string", maxLength: 5 })
    assert.deepStrictEqual(propertyOf(Schema.Int), { type: "integer" })
    const age = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 })).annotate({ default: 3 })
    assert.deepStrictEqual(propertyOf(age), { type: "integer", minimum: 1, maximum: 9, default: 3 })
    const above = Schema.Int.check(Schema.isGreaterThan(2))
    assert.deepStrictEqual(propertyOf(above), { type: "integer", minimum: 3 })
    assert.deepStrictEqual(propertyOf(Schema.Finite.check(Schema.isLessThanOrEqualTo(0.5))), {
      type: "number",
      maximum: 0.5
    })
    assert.deepStrictEqual(propertyOf(Schema.Boolean.annotate({ default: false })), { type: "boolean", default: false })
    assert.deepStrictEqual(propertyOf(Schema.String.annotate({ format: "hostname" })), { type: "string" })
    assert.deepStrictEqual(propertyOf(Schema.Int.annotate({ identifier: "Age" })), { type: "integer" })
  })

  it("[ELI-06] titles of choices as `enumNames` on every revision that has forms, where it is asked for", () => {
    const names = { type: "string", enum: ["a", "b"], enumNames: ["A", "B"] } as const
    const schema = Schema.Struct({ f: FormContract.choices({ a: "A", b: "B" }, { legacy: true }) })
    const { decode, form } = FormContract.make(schema)
    assert.deepStrictEqual(form.properties, { f: names })
    assert.deepStrictEqual(Result.getOrThrow(decode({ f: "b" })), { f: "b" })
    assert.isTrue(Result.isFailure(decode({ f: "B" })))
    for (const revision of Revisions.all) {
      const codec = revision.input(Methods.ElicitationCreate) ?? revision.request(Methods.ElicitationCreate)
      const wire = codec?.encodeParams({ mode: "form", message: "?", requestedSchema: form })
      if (wire !== undefined) assert.deepInclude(wire["requestedSchema"], { properties: { f: names } })
    }
  })

  it("[ELI-06] choices of one and of several, with titles and without", () => {
    const plain = Schema.Literals(["a", "b"])
    const titled = FormContract.choices({ a: "A", b: "B" })
    const union = Schema.Union([Schema.Literal("a").annotate({ title: "A" }), Schema.Literal("b")])
    const pairs = [{ const: "a", title: "A" }, { const: "b", title: "B" }]
    assert.deepStrictEqual(propertyOf(plain), { type: "string", enum: ["a", "b"] })
    assert.deepStrictEqual(propertyOf(titled.annotate({ title: "T", default: "b" })), {
      type: "string",
      title: "T",
      default: "b",
      oneOf: pairs
    })
    assert.deepStrictEqual(propertyOf(union), {
      type: "string",
      oneOf: [{ const: "a", title: "A" }, { const: "b", title: "b" }]
    })
    assert.deepStrictEqual(propertyOf(Schema.Array(plain).check(Schema.isMinLength(1), Schema.isMaxLength(2))), {
      type: "array",
      minItems: 1,
      maxItems: 2,
      items: { type: "string", enum: ["a", "b"] }
    })
    assert.deepStrictEqual(propertyOf(Schema.Array(titled)), { type: "array", items: { anyOf: pairs } })
  })

  it("what may be absent or null is not required, and is read as the schema has it", () => {
    const { decode, form } = FormContract.make(Schema.Struct({
      a: Schema.optionalKey(Schema.String),
      b: Schema.optional(Schema.Int),
      c: Schema.NullOr(Schema.Boolean),
      d: Schema.String
    }))
    assert.deepStrictEqual(form.required, ["d"])
    assert.deepStrictEqual(Object.keys(form.properties), ["a", "b", "c", "d"])
    assert.deepStrictEqual(Result.getOrThrow(decode({ d: "x" })), { c: null, d: "x" })
    assert.deepStrictEqual(Result.getOrThrow(decode({ a: "y", b: 1, c: true, d: "x" })), {
      a: "y",
      b: 1,
      c: true,
      d: "x"
    })
  })

  it("[field SCH-23] a field that was left out has its default", () => {
    const { decode } = FormContract.make(Schema.Struct({
      n: Schema.optionalKey(Schema.Finite),
      on: Schema.Boolean.annotate({ default: true }),
      env: FormContract.choices({ p: "Production", t: "Test" }).annotate({ default: "t" }),
      none: Schema.NullOr(Schema.String)
    }))
    assert.deepStrictEqual(Result.getOrThrow(decode({})), { on: true, env: "t", none: null })
    assert.deepStrictEqual(Result.getOrThrow(decode({ on: false, env: "p", none: "x", n: 1 })), {
      n: 1,
      on: false,
      env: "p",
      none: "x"
    })
  })

  it("a form without fields, and one of a class", () => {
    assert.deepStrictEqual(FormContract.make(Schema.Struct({})).form, { type: "object", properties: {} })
    class Person extends Schema.Class<Person>("Person")({ name: Schema.String }) {}
    const { decode, form } = FormContract.make(Person)
    assert.deepStrictEqual(form.required, ["name"])
    assert.instanceOf(Result.getOrThrow(decode({ name: "x" })), Person)
  })

  it("a list that came as one text is read as a list", () => {
    const { decode } = FormContract.make(Schema.Struct({ l: Schema.Array(Schema.Literals(["a", "b"])) }))
    assert.deepStrictEqual(Result.getOrThrow(decode({ l: "a, b" })), { l: ["a", "b"] })
    assert.deepStrictEqual(Result.getOrThrow(decode({ l: "" })), { l: [] })
    assert.isTrue(Result.isFailure(decode({ l: "c" })))
  })

  it("what is no form is refused, by the field and the reason", () => {
    const refused: ReadonlyArray<readonly [FormContract.Form<unknown>, string]> = [
      [Schema.Boolean, `form "": a form is an object`],
      [Schema.Record(Schema.String, Schema.String), `form "": the fields of a form have names`],
      [Schema.Struct({ a: Schema.Struct({ b: Schema.String }) }), `form "a": a form holds`],
      [Schema.Struct({ a: Schema.Array(Schema.String) }), `form "a": a list in a form`],
      [Schema.Struct({ a: Schema.Union([Schema.String, Schema.Finite]) }), `form "a": a form holds`],
      [Schema.Struct({ a: Schema.Literals([1, 2]) }), `form "a": only strings`],
      [Schema.Struct({ a: Schema.Int.annotate({ default: 1.5 }) }), `form "a": its default`]
    ]
    for (const [schema, message] of refused) {
      const made = Result.try(() => FormContract.make(schema))
      const error = Result.isFailure(made) ? made.failure : undefined
      assert.instanceOf(error, InvalidContract)
      assert.include(error instanceof Error ? error.message : "", message)
    }
  })
})

describe("one schema", () => {
  it("has one contract, and no other schema has it", () => {
    const schema = Schema.Struct({ a: Schema.String })
    assert.strictEqual(FormContract.make(schema), FormContract.make(schema))
    const contract = FormContract.make(Schema.Struct({ a: Schema.Int }))
    assert.notStrictEqual<unknown>(contract, FormContract.make(schema))
    assert.isTrue(Result.isFailure(contract.decode({ a: "1" })))
    assert.isTrue(Result.isSuccess(FormContract.make(schema).decode({ a: "1" })))
  })

  it("that is no form is refused each time", () => {
    const schema = Schema.Struct({ a: Schema.Struct({}) })
    for (let time = 0; time < 2; time++) assert.throws(() => FormContract.make(schema), InvalidContract)
  })
})

describe("laws", () => {
  const name = fc.stringMatching(/^[a-z]{1,6}$/)
  const values = fc.uniqueArray(fc.stringMatching(/^[A-Za-z0-9 .-]{1,8}$/), { minLength: 1, maxLength: 4 })
  interface Field {
    readonly schema: Schema.Codec<unknown>
    readonly value: fc.Arbitrary<unknown>
  }
  const codec = (schema: Schema.Top): Schema.Codec<unknown> => Schema.make<Schema.Codec<unknown>>(schema.ast)
  const field: fc.Arbitrary<Field> = fc.oneof(
    fc.constant({ schema: codec(Schema.String), value: fc.string() }),
    fc.constant({ schema: codec(Schema.Boolean), value: fc.boolean() }),
    fc.constant({ schema: codec(Schema.Int), value: fc.maxSafeInteger() }),
    fc.constant({ schema: codec(Schema.Finite), value: fc.double({ noNaN: true, noDefaultInfinity: true }) }),
    values.map((list) => ({ schema: codec(Schema.Literals(list)), value: fc.constantFrom(...list) })),
    values.map((list) => ({
      schema: codec(FormContract.choices(Object.fromEntries(list.map((one) => [one, `Title of ${one}`])))),
      value: fc.constantFrom(...list)
    })),
    values.map((list) => ({
      schema: codec(Schema.Array(Schema.Literals(list))),
      value: fc.subarray(list)
    }))
  )
  const drawn = fc.dictionary(name, field, { maxKeys: 5, noNullPrototype: true }).chain((fields) =>
    fc.record({
      schema: fc.constant(Schema.Struct(
        Object.fromEntries(Object.entries(fields).map(([key, { schema }]) => [key, schema]))
      )),
      value: fc.record(Object.fromEntries(Object.entries(fields).map(([key, { value }]) => [key, value])), {
        noNullPrototype: true
      })
    })
  )
  const isForm = Schema.is(FormSchema)

  it("[ELI-05, ELI-06] every flat struct is a form, on every revision that has forms, and reads its own answers", () => {
    fc.assert(fc.property(drawn, ({ schema, value }) => {
      const contract = FormContract.make(schema)
      assert.isTrue(isForm(contract.form))
      const content = Schema.encodeUnknownSync(JsonSchema.codec(schema))(value)
      assert.deepStrictEqual(Result.getOrThrow(contract.decode(content)), value)
      for (const revision of Revisions.all) {
        const params = { mode: "form", message: "m", requestedSchema: contract.form } as const
        const request = revision.request(Methods.ElicitationCreate) ?? revision.input(Methods.ElicitationCreate)
        if (request === undefined) continue
        const wire = request.encodeParams(params)
        assert.isTrue(Result.isSuccess(request.decodeParams(wire)), JSON.stringify(wire))
      }
    }))
  })
})
