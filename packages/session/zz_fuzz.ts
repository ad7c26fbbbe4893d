import { patternCost } from "./src/internal/patternCost.ts"
import * as Result from "effect/Result"
let seed = Number(process.argv[2] ?? 1); const rnd = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff
const pick = <A>(xs: A[]) => xs[Math.floor(rnd() * xs.length)]!
const gen = (d: number): string => {
  const n = 1 + Math.floor(rnd() * 3); let s = ""
  for (let i = 0; i < n; i++) {
    const r = rnd()
    let a = r < 0.55 || d === 0 ? pick(["a", "b", "[ab]", ".", "[^b]", "\\w", "c"]) : r < 0.8 ? `(?:${gen(d - 1)})` : r < 0.92 ? `(${gen(d - 1)}|${gen(d - 1)})` : `(?=${gen(d - 1)})`
    if (!a.startsWith("(?=")) a += pick(["", "", "*", "+", "?", "{2}", "{1,3}", "{0,20}", "*?"])
    s += a
  }
  return s
}
const inputs = (n: number) => ["a".repeat(n) + "!", "ab".repeat(n / 2) + "!", "b".repeat(n) + "!", "aab".repeat(n / 3) + "!", "abc".repeat(n / 3) + "\n", "a".repeat(n / 2) + "b".repeat(n / 2) + "\n"]
let acc = 0, ref = 0, worst = 0
for (let i = 0; i < 20000; i++) {
  const src = (rnd() < 0.6 ? "^" : "") + gen(3) + (rnd() < 0.7 ? "$" : rnd() < 0.5 ? "X" : "")
  let re; try { re = new RegExp(src, "u") } catch { continue }
  const c = patternCost(src)
  if (Result.isFailure(c)) { ref++; continue }
  acc++
  for (const n of [24, 60, 200, 600]) {
    const cost = c.success.ways * n ** c.success.degree
    if (cost > 3e7) break
    let bad = false
    for (const s of inputs(n)) {
      let ms = Infinity; for (let k = 0; k < 3 && ms > 1; k++) { const t = performance.now(); re.test(s); ms = Math.min(ms, performance.now() - t) }
      const allowed = cost * 8e-6 + 1
      if (ms > allowed) { bad = true; const k = ms / allowed; if (k > worst) worst = k; console.log("SLOW", src, c.success, "n", n, "ms", ms.toFixed(1), "allowed", allowed.toFixed(2)); break }
    }
    if (bad) break
  }
}
console.log({ acc, ref, worst })
