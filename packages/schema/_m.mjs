const t0 = performance.now()
const R = await import("/work/main/packages/schema/src/Revisions.ts")
const t1 = performance.now()
const M = await import("/work/main/packages/schema/src/Methods.ts")
const Meta = await import("/work/main/packages/schema/src/Meta.ts")
const Result = await import("effect/Result")
const t2 = performance.now(); for (const r of R.all) for (const n of r.requests.keys()) r.requestByName(n); console.log("import", (t1-t0).toFixed(0), "build all codecs", (performance.now()-t2).toFixed(1))
const bench = (name, f) => { for (let i=0;i<3e5;i++) f(); let best=1e9; for (let k=0;k<5;k++){ const t=process.hrtime.bigint(); const N=1e6; for(let i=0;i<N;i++) f(); best=Math.min(best, Number(process.hrtime.bigint()-t)/N)} console.log(name, best.toFixed(0), "ns") }
const env = {"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{elicitation:{}},"io.modelcontextprotocol/clientInfo":{name:"a",version:"1"}}
for (const v of ["2025-11-25","2026-07-28"]) {
  const r = R.byVersion(v), c = r.request(M.ToolsCall)
  const params = JSON.parse(JSON.stringify({name:"echo",arguments:{text:"hello"},_meta: v==="2026-07-28" ? env : {progressToken:1}}))
  const result = {content:[{type:"text",text:"hello"}]}
  bench(v+" tools/call decodeParams", () => c.decodeParams(params))
  bench(v+" tools/call encodeResult", () => c.encodeResult(result))
  const wire = c.encodeResult(result)
  bench(v+" tools/call decodeResult", () => c.decodeResult(wire))
  bench(v+" tools/call encodeParams", () => c.encodeParams(params))
  const rd = r.request(M.ResourcesRead)
  const rp = {uri:"a:b",_meta: v==="2026-07-28" ? env : {progressToken:1}}
  bench(v+" resources/read decodeParams", () => rd.decodeParams(rp))
  const lp = r.request(M.ToolsList), big = {tools: Array.from({length:100},(_, i)=>({name:"t"+i,description:"d",inputSchema:{type:"object",properties:{a:{type:"string"}}}}))}
  bench(v+" tools/list(100) encodeResult", () => lp.encodeResult(big))
  bench(v+" tools/list(100) decodeResult", () => lp.decodeResult(big))
}
const p = JSON.parse(JSON.stringify({name:"echo",_meta:env}))
bench("modernEnvelope", () => Meta.modernEnvelope(p))
