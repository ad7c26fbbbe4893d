/** One prompt for each field of a form. */
import type { Value } from "@mcpfx/schema/Elicitation"
import type * as FormSchema from "@mcpfx/schema/FormSchema"
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import { line } from "./plainText.ts"

/** A field with what is known of it. */
export interface Field {
  readonly name: string
  readonly property: FormSchema.Property
  readonly required: boolean
  /** What was typed before, or the default. */
  readonly initial: Value | undefined
  /** What is wrong with a value; `undefined` where nothing is. */
  readonly problem: (value: Value | undefined) => string | undefined
}

/** `undefined` leaves the field out. */
type Answer = Prompt.Prompt<Value | undefined>

interface Choice {
  readonly title: string
  readonly value: Value | undefined
}

const nothing: Choice = { title: "(leave out)", value: undefined }

export const label = ({ name, property, required }: Field): string => {
  const { description, title } = property
  const shown = line(title ?? name)
  return `${shown}${required ? "" : " (optional)"}${description === undefined ? "" : `: ${line(description)}`}`
}

const pairs = (values: ReadonlyArray<string>, names: ReadonlyArray<string> | undefined): ReadonlyArray<Choice> =>
  values.map((value, index) => ({ title: line(names?.[index] ?? value), value }))

const titled = (choices: ReadonlyArray<{ readonly const: string; readonly title: string }>): ReadonlyArray<Choice> =>
  choices.map(({ const: value, title }) => ({ title: line(title), value }))

/** One of some; the one that stands already comes first, since that is where the cursor is. */
const one = (field: Field, choices: ReadonlyArray<Choice>): Answer => {
  const all = field.required ? choices : [...choices, nothing]
  const first = all.filter(({ value }) => value === field.initial)
  const rest = all.filter(({ value }) => value !== field.initial)
  return Prompt.Select({ message: label(field), choices: [...first, ...rest] })
}

const some = (
  field: Field,
  choices: ReadonlyArray<Choice>,
  { maxItems, minItems }: { readonly maxItems?: number; readonly minItems?: number }
): Answer => {
  const before = Array.isArray(field.initial) ? field.initial : []
  return Prompt.MultiSelect({
    message: label(field),
    ...(maxItems === undefined ? undefined : { max: maxItems }),
    ...(minItems === undefined ? undefined : { min: minItems }),
    choices: choices.flatMap(({ title, value }) =>
      typeof value === "string" ? [{ title, value, selected: before.includes(value) }] : []
    )
  })
}

/** Free text, read by `read`; nothing typed leaves an optional field out. */
const typed = (field: Field, read: (text: string) => Value): Answer => {
  const value = (text: string) => text === "" && !field.required ? undefined : read(text)
  return Prompt.map(
    Prompt.String({
      message: label(field),
      ...(field.initial === undefined ? undefined : { default: String(field.initial) }),
      validate: (text) => {
        const problem = field.problem(value(text))
        return problem === undefined ? Effect.succeed(text) : Effect.fail(problem)
      }
    }),
    value
  )
}

const number = (text: string): Value => {
  const read = text.trim() === "" ? Number.NaN : Number(text)
  return Number.isFinite(read) ? read : text
}

const yesOrNo: ReadonlyArray<Choice> = [{ title: "yes", value: true }, { title: "no", value: false }]

export const prompt = (field: Field): Answer => {
  const { property } = field
  switch (property.type) {
    case "boolean":
      return one(field, yesOrNo)
    case "array":
      return "anyOf" in property.items
        ? some(field, titled(property.items.anyOf), property)
        : some(field, pairs(property.items.enum, undefined), property)
    case "number":
    case "integer":
      return typed(field, number)
    case "string":
      if ("enum" in property) return one(field, pairs(property.enum, property.enumNames))
      return "oneOf" in property ? one(field, titled(property.oneOf)) : typed(field, (text) => text)
  }
}
