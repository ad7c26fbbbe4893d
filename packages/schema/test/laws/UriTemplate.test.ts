import { assert, describe, it } from "@effect/vitest"
import { Option, Result } from "effect"
import fc from "fast-check"
import * as UriTemplate from "../../src/UriTemplate.ts"

const matcher = (source: string) =>
  Result.getOrThrow(Result.flatMap(UriTemplate.parse(source), (one) => UriTemplate.matcher(one)))

/** Any text that a single value can hold. */
const single = fc.string({ unit: "binary", minLength: 1 }).filter((text) =>
  !/[/\\\0]|\p{Surrogate}/u.test(text) && text !== "." && text !== ".."
)
const free = fc.string({ unit: "binary" }).filter((text) => !/\0|\p{Surrogate}/u.test(text))
const segments = fc.array(single, { minLength: 1, maxLength: 5 })
/** What `{+x}` holds: no triplets, which it would keep, no separators that are not its own, no dot segments. */
const reserved = fc.string({ unit: "binary", minLength: 1 }).filter((text) =>
  !/[%\\\0?#]|\p{Surrogate}/u.test(text) && !text.split("/").some((segment) => segment === "." || segment === "..")
)
const absent = <A>(of: fc.Arbitrary<A>) => fc.option(of, { nil: undefined })

interface Values {
  readonly [name: string]: string | ReadonlyArray<string> | undefined
}

const defined = (values: Values): object =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

const checkRoundTrip = (source: string, values: fc.Arbitrary<Values>) => {
  const by = matcher(source)
  fc.assert(fc.property(values, (given) => {
    const uri = Result.getOrThrow(UriTemplate.expand(by.template, given))
    assert.deepStrictEqual(Option.getOrThrow(UriTemplate.match(by, uri)), defined(given), uri)
    assert.isUndefined(UriTemplate.fault(uri), uri)
  }))
}

describe("match(expand(values)) = values", () => {
  it("[RES-08] for single values", () => checkRoundTrip("d://a/{x}/b/{y}", fc.record({ x: single, y: single })))
  it("[RES-08] for values parted by commas", () => checkRoundTrip("d://a/{x,y}", fc.record({ x: single, y: single })))
  it("[RES-08] for lists of values", () => checkRoundTrip("d://a/{x*}", fc.record({ x: segments })))
  it("[RES-08] for reserved values", () => checkRoundTrip("d://a/{+x}", fc.record({ x: reserved })))
  it("[RES-08] for reserved values before a single one", () =>
    checkRoundTrip("d://a/{+x}/{y}", fc.record({ x: reserved, y: single })))
  it("[RES-08] for segments", () => checkRoundTrip("d://a/{x}{/y*}", fc.record({ x: single, y: absent(segments) })))
  it("[RES-08] for queries", () =>
    checkRoundTrip(
      "d://a/{x}{?y,z*}",
      fc.record({ x: single, y: absent(free), z: absent(fc.array(free, { minLength: 1 })) })
    ))
  it("[RES-08] for continued queries", () =>
    checkRoundTrip("d://a?k={x}{&y}", fc.record({ x: single, y: absent(free) })))
  it("[RES-08] for path parameters", () =>
    checkRoundTrip("d://a/{x}{;y,z}", fc.record({ x: single, y: absent(free), z: absent(free) })))
  it("[RES-08] for fragments", () => checkRoundTrip("d://a/{x}{#y}", fc.record({ x: single, y: absent(reserved) })))
})

describe("match(any text)", () => {
  const sources = [
    "file:///{a}",
    "file:///{+a}",
    "file://{/a*}",
    "file:///{a}/{b}",
    "file:///{a}.{b}",
    "file:///{+a}/{b}",
    "file:///x{/a,b}",
    "file:///{a*}"
  ]
  const pieces = fc.constantFrom(
    "a",
    "b.",
    "/",
    ".",
    "..",
    "%2e",
    "%2E%2e",
    "%2F",
    "%5c",
    "\\",
    "%00",
    "%",
    "?",
    "#",
    ",",
    ";",
    "%C3%A9",
    "%E9"
  )
  it("[RES-09] never yields a dot segment, a foreign separator or U+0000, whatever the URI", () => {
    for (const source of sources) {
      const by = matcher(source)
      fc.assert(
        fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
          const found = UriTemplate.match(by, `file:///${parts.join("")}`)
          const values = Option.match(found, {
            onNone: () => [],
            onSome: (variables) => Object.values(variables).flat()
          })
          for (const value of values) {
            assert.notInclude(value, "\\")
            assert.notInclude(value, "\0")
            if (!source.includes("{+a}")) assert.notInclude(value, "/")
            for (const segment of value.split("/")) assert.notInclude([".", ".."], segment)
          }
        }),
        { numRuns: 300 }
      )
    }
  })
})
