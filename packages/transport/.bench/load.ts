import { fork } from "node:child_process"
import { connect } from "node:net"
const kinds = process.argv.slice(2)
const N = Number(process.env.N ?? 20000), C = 32, ROUNDS = Number(process.env.ROUNDS ?? 3)
const sse = process.env.SSE === "1"
const body = process.env.BODY ?? JSON.stringify({ jsonrpc: "2.0", id: 12, method: "tools/call", params: { name: "echo", arguments: { text: "hello there" } } })
const mk = (modern: boolean) => `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: ${modern ? "2026-07-28" : "2025-11-25"}\r\n${modern ? "Mcp-Method: tools/call\r\nMcp-Name: echo\r\n" : "Mcp-Session-Id: 0123456789abcdef0123456789abcdef\r\n"}Connection: keep-alive\r\n`
const msg = (kind: string) => { const m = kind.startsWith("modern")
  const b = m ? JSON.stringify({ jsonrpc: "2.0", id: 12, method: "tools/call", params: { name: "echo", arguments: { text: "hello there" }, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": { name: "x", version: "1" } } } }) : body
  return Buffer.from(mk(m) + `Content-Length: ${Buffer.byteLength(b)}\r\n\r\n${b}`) }
let port = 42100 + Math.floor(Math.random() * 1000)
const servers = await Promise.all(kinds.map(async (kind) => {
  const p = port++
  const child = fork(new URL("./servers.ts", import.meta.url).pathname, [kind, String(p)], process.env.PROF ? { execArgv: ["--cpu-prof", "--cpu-prof-dir=/tmp/prof-" + kind] } : {})
  await new Promise((r) => child.once("message", r))
  await new Promise((r) => setTimeout(r, 1500))
  return { kind, p, child }
}))
const cpu = (c: any) => new Promise<number>((r) => { c.once("message", (m: any) => r(m.cpu)); c.send("x") })
const run = async (s: any, n: number) => {
  const m = msg(s.kind)
  const before = await cpu(s.child); let left = n
  const socks: any[] = []
  await new Promise<void>((resolve) => {
    let done = 0
    for (let i = 0; i < C; i++) {
      const k = connect(s.p, "127.0.0.1"); socks.push(k); k.setNoDelay(true)
      let acc = ""
      const next = () => { if (left-- > 0) k.write(m); }
      k.on("connect", next)
      k.on("data", (d: Buffer) => {
        acc += d.toString("latin1")
        const h = acc.indexOf("\r\n\r\n"); if (h < 0) return
        const cl = /content-length: (\d+)/i.exec(acc)
        if (cl ? acc.length >= h + 4 + Number(cl[1]) : acc.endsWith("0\r\n\r\n")) {
          if (!acc.startsWith("HTTP/1.1 200")) { console.log(acc); process.exit(1) }
          acc = ""; if (++done === n) resolve(); else next() }
      })
    }
  })
  socks.forEach((k) => k.destroy())
  return (await cpu(s.child)) - before
}
for (const s of servers) await run(s, 5000)
const res: Record<string, number[]> = {}
for (let r = 0; r < ROUNDS; r++) for (const s of servers) (res[s.kind] ??= []).push(await run(s, N))
const med = (a: number[]) => a.slice().sort((x, y) => x - y)[a.length >> 1]!
const base = med(res[kinds[0]!]!)
for (const k of kinds) console.log(k.padEnd(10), (med(res[k]!) / N * 1000).toFixed(1), "us", (med(res[k]!) / base).toFixed(2) + "x", res[k]!.map((x) => (x / N * 1000).toFixed(1)).join(" "))
servers.forEach((s) => s.child.send("exit")); await new Promise((r) => setTimeout(r, 1500))
process.exit(0)
