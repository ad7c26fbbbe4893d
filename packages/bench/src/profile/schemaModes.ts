/** Tool arguments and envelopes read by Effect's interpreter, and by the decoders its JIT compiler makes. */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as JsonSchema from "@mcpfx/schema/JsonSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import { type Cost, type Effort, measure } from "./measure.ts"
import { each, type Probe } from "./probe.ts"

interface Case {
  readonly name: string
  /** Made anew for each mode: a decoder that was made before is not compiled later. */
  readonly make: () => Schema.Codec<unknown, unknown>
  readonly value: unknown
}

const Person = () =>
  Schema.Struct({
    name: Schema.String,
    age: Schema.Int,
    email: Schema.optionalKey(Schema.String),
    tags: Schema.Array(Schema.String),
    active: Schema.Boolean,
    role: Schema.Literals(["admin", "user", "guest"]),
    address: Schema.Struct({ street: Schema.String, city: Schema.String, zip: Schema.String })
  })

const person = {
  name: "Ada",
  age: 36,
  email: "ada@example.com",
  tags: ["a", "b", "c"],
  active: true,
  role: "user",
  address: { street: "1 High Street", city: "London", zip: "N1" }
}

export const cases: ReadonlyArray<Case> = [
  {
    name: "arguments, two numbers",
    make: () => JsonSchema.codec(Schema.Struct({ a: Schema.Finite, b: Schema.Finite })),
    value: { a: 1, b: 2 }
  },
  { name: "arguments, seven fields, one a struct", make: () => JsonSchema.codec(Person()), value: person },
  {
    name: "arguments, 20 of those in an array",
    make: () => JsonSchema.codec(Schema.Struct({ people: Schema.Array(Person()) })),
    value: { people: Array.from({ length: 20 }, () => person) }
  },
  {
    name: "arguments with a date, which is transformed",
    make: () => JsonSchema.codec(Schema.Struct({ at: Schema.Date, note: Schema.String })),
    value: { at: "2026-07-28T00:00:00.000Z", note: "x" }
  },
  {
    name: "envelope of a request",
    make: () =>
      Schema.Union([
        Schema.Struct({
          jsonrpc: Schema.Literal("2.0"),
          id: JsonRpc.RequestId,
          method: Schema.String,
          params: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
        })
      ]),
    value: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "add", arguments: {} } }
  }
]

export interface Mode {
  readonly name: string
  readonly interpreted: Cost
  readonly compiled: Cost
  /** Milliseconds from nothing to the first value decoded. */
  readonly firstInterpreted: number
  readonly firstCompiled: number
}

const decoding = (codec: Schema.Codec<unknown, unknown>, value: unknown): Probe => {
  const decode = Schema.decodeUnknownResult(codec)
  return each(() => decode(value))
}

const first = (one: Case, compiled: boolean): number => {
  const codec = one.make()
  const before = performance.now()
  if (compiled) SchemaJITCompiler.enable(codec.ast)
  Schema.decodeUnknownResult(codec)(one.value)
  return performance.now() - before
}

const median = (numbers: ReadonlyArray<number>): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN

/** Whether code may be made at run time here; where it may not, the compiler leaves everything to the interpreter. */
export const canCompile = (): boolean =>
  Effect.runSync(Effect.match(
    Effect.try(() => new Function("return true")),
    { onFailure: () => false, onSuccess: () => true }
  ))

export const compare = async (effort: Effort): Promise<ReadonlyArray<Mode>> => {
  const probes = cases.flatMap((one) => {
    const compiled = one.make()
    SchemaJITCompiler.enable(compiled.ast)
    return [decoding(one.make(), one.value), decoding(compiled, one.value)]
  })
  const costs = await measure(probes, effort)
  return cases.flatMap((one, index) => {
    const interpreted = costs[2 * index]
    const compiled = costs[2 * index + 1]
    const times = Array.from({ length: 15 }, () => [first(one, false), first(one, true)] as const)
    return interpreted === undefined || compiled === undefined ? [] : [{
      name: one.name,
      interpreted,
      compiled,
      firstInterpreted: median(times.map(([time]) => time)),
      firstCompiled: median(times.map(([, time]) => time))
    }]
  })
}
