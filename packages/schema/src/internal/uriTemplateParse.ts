/** The grammar of RFC 6570, read in one pass. */
import * as Result from "effect/Result"
import { encodeReserved } from "./percent.ts"

export type Operator = "" | "+" | "#" | "." | "/" | ";" | "?" | "&"

export interface Variable {
  readonly name: string
  readonly explode: boolean
  /** Characters kept by a prefix modifier, 1 to 9999. */
  readonly prefix: number | undefined
}

export interface Literal {
  readonly _tag: "Literal"
  /** As it stands in a URI: what a URI cannot hold is percent-encoded. */
  readonly text: string
}

export interface Expression {
  readonly _tag: "Expression"
  readonly operator: Operator
  readonly variables: ReadonlyArray<Variable>
}

export type Part = Literal | Expression

export interface Fault {
  /** Offset in the template, in UTF-16 units. */
  readonly position: number
  readonly reason: string
}

const varname = /^(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})+(?:\.(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})+)*$/
const prefixLength = /^[1-9][0-9]{0,3}$/
// controls, space, `"`, `<`, `>`, `\`, `^`, the grave accent, `{`, `|`, `}`, lone surrogates, and `%` without two digits
// oxlint-disable-next-line no-control-regex
const notLiteral = /[\u0000-\u0020\u007f"<>\\^`{|}]|\p{Surrogate}|%(?![0-9A-Fa-f]{2})/u

const isOperator = (char: string | undefined): char is Exclude<Operator, ""> =>
  char !== undefined && char !== "" && "+#./;?&".includes(char)

const fault = (position: number, reason: string): Result.Result<never, Fault> => Result.fail({ position, reason })

const variable = (spec: string, position: number): Result.Result<Variable, Fault> => {
  const explode = spec.endsWith("*")
  const colon = explode ? -1 : spec.indexOf(":")
  const name = explode ? spec.slice(0, -1) : colon === -1 ? spec : spec.slice(0, colon)
  if (!varname.test(name)) {
    return fault(position, `"${name}" is not a variable name: letters, digits, "_", triplets, with "." between`)
  }
  if (colon === -1) return Result.succeed({ name, explode, prefix: undefined })
  const length = spec.slice(colon + 1)
  return prefixLength.test(length)
    ? Result.succeed({ name, explode, prefix: Number(length) })
    : fault(position + colon, "a prefix is a number from 1 to 9999")
}

const expression = (body: string, position: number): Result.Result<Expression, Fault> => {
  const first = body[0]
  if (first !== undefined && "=,!@|".includes(first)) {
    return fault(position, `the operator "${first}" has no meaning yet`)
  }
  const operator: Operator = isOperator(first) ? first : ""
  const variables: Array<Variable> = []
  let at = position + operator.length
  for (const spec of body.slice(operator.length).split(",")) {
    const read = variable(spec, at)
    if (Result.isFailure(read)) return Result.fail(read.failure)
    variables.push(read.success)
    at += spec.length + 1
  }
  return Result.succeed({ _tag: "Expression", operator, variables })
}

/** Reads a template into its parts. */
export const parseParts = (source: string): Result.Result<ReadonlyArray<Part>, Fault> => {
  const parts: Array<Part> = []
  let at = 0
  while (at < source.length) {
    const open = source.indexOf("{", at)
    const literal = source.slice(at, open === -1 ? source.length : open)
    if (literal !== "") {
      const bad = notLiteral.exec(literal)
      if (bad !== null) return fault(at + bad.index, "a character that must be percent-encoded in a URI")
      parts.push({ _tag: "Literal", text: encodeReserved(literal) })
    }
    if (open === -1) break
    const close = source.indexOf("}", open)
    if (close === -1) return fault(open, "an expression without its end")
    const read = expression(source.slice(open + 1, close), open + 1)
    if (Result.isFailure(read)) return Result.fail(read.failure)
    parts.push(read.success)
    at = close + 1
  }
  return Result.succeed(parts)
}
