import { make } from "./src/JsonSchemaValidator.ts"
import * as Effect from "effect/Effect"
const v = make(); const T = (n: string, s: any, x: any) => { const t = performance.now(); const c = Effect.runSync(Effect.result(v.compile(s))) as any; const t1 = performance.now(); const r = c.success ? c.success(x) : c; console.log(n, "compile", (t1 - t).toFixed(1), "run", (performance.now() - t1).toFixed(1), JSON.stringify(r).slice(0, 150)) }
const nest = (d: number) => { let v: any = null; for (let i = 0; i < d; i++) v = { a: v }; return v }
T("many", { anyOf: Array.from({ length: 9999 }, () => ({})) }, {})
T("pats", { patternProperties: Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`^a${i}$`, {}])) }, {})
const long = "a".repeat(500_000)
for (const pattern of ["^[a-z]+$", "a", "\\S+", "^.*$", "^a+!?$", "[^a]?a+"]) T(pattern, { pattern }, long)
const list = Array.from({ length: 200_000 }, (_, i) => i)
T("unique", { uniqueItems: true, items: { type: "integer", minimum: 0 } }, list)
T("unique2", { uniqueItems: true }, [...list, 5])
const wide = { items: { enum: Array.from({ length: 20_000 }, (_, index) => index) } }
T("wide", wide, Array.from({ length: 2_000 }, () => -1))
const schema = { type: "object", properties: { a: { anyOf: [{ type: "null" }, { $ref: "#" }] } } }
T("deep", schema, nest(128))
T("deep2", schema, nest(100_000))
const twice = (next: string) => ({ allOf: [{ properties: { a: { $ref: next } } }, { properties: { a: { $ref: next } } }] })
T("twice10", twice("#"), nest(10))
T("twice", twice("#"), nest(100))
const doubling = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [
      `d${index}`,
      index === 39 ? { type: "string" } : { anyOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] }
    ]))
T("doubling", { $ref: "#/$defs/d0", $defs: doubling }, 1)
