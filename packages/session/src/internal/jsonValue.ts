/** Comparing and measuring JSON values. */
import { isJsonObject } from "@mcpfx/schema/JsonRpc"

/** Equality of JSON Schema: numbers by value, objects without order. `step` is called once a pair of values. */
export const isEqual = (left: unknown, right: unknown, step: () => void): boolean => {
  step()
  if (left === right) return true
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length &&
      left.every((one, index) => isEqual(one, right[index], step))
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false
  const names = Object.keys(left)
  return names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isEqual(left[name], right[name], step))
}

/** A text that two values share when they are equal, and only then. */
const canonical = (value: unknown, step: () => void): string => {
  step()
  if (Array.isArray(value)) return `[${value.map((one) => canonical(one, step)).join(",")}]`
  if (typeof value === "string") return JSON.stringify(value)
  if (!isJsonObject(value)) return String(value)
  const members = Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name], step)}`)
  return `{${members.join(",")}}`
}

/** Whether no two items are equal, in one pass. */
export const isUnique = (items: ReadonlyArray<unknown>, step: () => void): boolean => {
  const plain = new Set<unknown>()
  const composed = new Set<string>()
  for (const item of items) {
    if (typeof item !== "object" || item === null) {
      step()
      plain.add(item)
    } else composed.add(canonical(item, step))
  }
  return plain.size + composed.size === items.length
}

/** Characters, not UTF-16 units. */
export const countCharacters = (text: string): number => {
  let count = text.length
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index)
    const next = text.charCodeAt(index + 1)
    if (unit >= 0xd800 && unit < 0xdc00 && next >= 0xdc00 && next < 0xe000) {
      count--
      index++
    }
  }
  return count
}

/** A finite number as an integer and a power of ten. */
const decimal = (value: number): readonly [digits: bigint, exponent: number] => {
  const [mantissa = "0", exponent = "0"] = String(Math.abs(value)).split("e")
  const [whole = "0", fraction = ""] = mantissa.split(".")
  return [BigInt(whole + fraction), Number(exponent) - fraction.length]
}

/** Exact in decimal, as the numbers are written: 0.0075 is a multiple of 0.0001. */
export const isMultiple = (value: number, of: number): boolean => {
  if (Number.isInteger(value) && Number.isInteger(of)) return value % of === 0
  const [left, leftExponent] = decimal(value)
  const [right, rightExponent] = decimal(of)
  const shift = leftExponent - rightExponent
  return shift >= 0
    ? (left * 10n ** BigInt(shift)) % right === 0n
    : left % (right * 10n ** BigInt(-shift)) === 0n
}
