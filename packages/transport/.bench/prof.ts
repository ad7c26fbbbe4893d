import { readFileSync } from "node:fs"
const p = JSON.parse(readFileSync(process.argv[2]!, "utf8"))
const self = new Map<string, number>(); const dt = p.timeDeltas
const byId = new Map(p.nodes.map((n: any) => [n.id, n]))
p.samples.forEach((s: number, i: number) => { const n: any = byId.get(s); const k = `${n.callFrame.functionName || "(anon)"} ${n.callFrame.url.split("/").slice(-3).join("/")}:${n.callFrame.lineNumber}`; self.set(k, (self.get(k) ?? 0) + dt[i]) })
const tot = [...self.values()].reduce((a, b) => a + b, 0)
for (const [k, v] of [...self].sort((a, b) => b[1] - a[1]).slice(0, Number(process.argv[3] ?? 45))) console.log((v / tot * 100).toFixed(1).padStart(5) + "%", k)
