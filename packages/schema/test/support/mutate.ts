/** Small damages to JSON values, for looking at what is refused. */
import fc from "fast-check"

type Path = ReadonlyArray<string | number>

const isRecord = (u: unknown): u is Readonly<Record<string, unknown>> =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** Every place in a value but its root. */
export const places = (value: unknown, at: Path = []): ReadonlyArray<Path> => {
  const inner = Array.isArray(value)
    ? value.map((item, index): [number, unknown] => [index, item])
    : isRecord(value)
    ? Object.entries(value)
    : []
  return inner.flatMap(([key, item]) => [[...at, key], ...places(item, [...at, key])])
}

const gone = Symbol("gone")

const replace = (value: unknown, path: Path, by: unknown): unknown => {
  const [head, ...rest] = path
  if (head === undefined) return by
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => {
      if (index !== head) return [item]
      const next = replace(item, rest, by)
      return next === gone ? [] : [next]
    })
  }
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]): ReadonlyArray<[string, unknown]> => {
      if (key !== head) return [[key, item]]
      const next = replace(item, rest, by)
      return next === gone ? [] : [[key, next]]
    })
  )
}

export interface Damage {
  readonly value: unknown
  /** Where, with dots. */
  readonly at: string
  readonly by: unknown
}

/** One place of `value` taken away or replaced by something of another type. */
export const damaged = (value: unknown): fc.Arbitrary<Damage> | undefined => {
  const all = places(value)
  return all.length === 0 ? undefined : fc.tuple(
    fc.constantFrom(...all),
    fc.constantFrom<unknown>(gone, null, 7, 1.5, true, "odd", [], {}, ["odd"], { odd: 1 })
  ).map(([path, by]) => ({
    value: replace(value, path, by),
    at: path.join("."),
    by: by === gone ? "(gone)" : by
  }))
}
