/**
 * `npm run soak`: mixed traffic for a long time, and a look at what is alive every so often, when nothing is going on.
 *
 * - `--minutes 10` how long; the first fifth settles and is not judged
 * - `--seed 1` the traffic
 * - `--workers 16` clients at a time
 * - `--json FILE` also writes the numbers there
 *
 * Ends with code 1 when an answer was wrong or something grew.
 */
import { packed } from "@mcpfx/tooling/packed"
import * as Effect from "effect/Effect"
import { fork } from "node:child_process"
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { amountOf, asked, countOf, flagsOf } from "../flags.ts"
import { type Census, census } from "./census.ts"
import { growth, type Sample } from "./judge.ts"
import { visit } from "./traffic.ts"
import type { Wrong } from "./wrong.ts"

const { minutes, seed, values, workers } = asked(() => {
  const values = flagsOf({
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    workers: { type: "string", default: "16" },
    json: { type: "string" }
  })
  return {
    values,
    minutes: amountOf("minutes", values.minutes),
    seed: countOf("seed", values.seed),
    workers: countOf("workers", values.workers)
  }
})

const millis = minutes * 60_000
/** Time between two looks at what is alive; five or more in all. */
const every = Math.min(40_000, millis / 5)
/** After which the sessions, events, tasks and sockets that were left behind are gone. */
const calm = 9_000
const settling = 0.2

/** The server as one file, started with a heap that can be looked at. */
const startServer = async () => {
  const file = await packed(fileURLToPath(new URL("server.ts", import.meta.url)))
  const child = fork(file, { execArgv: ["--expose-gc", "--disable-warning=ExperimentalWarning"] })
  const next = <A>(read: (message: object) => A | undefined): Promise<A> =>
    new Promise((resolve, reject) => {
      child.on("message", function onMessage(message) {
        const value = typeof message === "object" && message !== null ? read(message) : undefined
        if (value === undefined) return
        child.off("message", onMessage)
        resolve(value)
      })
      child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)))
    })
  const ports = await next((message) =>
    "ports" in message && Array.isArray(message.ports) ? message.ports.map(Number) : undefined
  )
  return {
    ports,
    census: (): Promise<Census> => {
      const answer = next((message) => "census" in message && isCensus(message.census) ? message.census : undefined)
      child.send("census")
      return answer
    },
    stop: () => child.kill("SIGTERM")
  }
}

const isCensus = (u: unknown): u is Census => typeof u === "object" && u !== null && "heap" in u && "fibers" in u

/** Numbers from 0 to 1 that come again with the seed (mulberry32). */
const series = (seed: number): () => number => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    const a = Math.imul(state ^ (state >>> 15), 1 | state)
    const b = (a + Math.imul(a ^ (a >>> 7), 61 | a)) ^ a
    return ((b ^ (b >>> 14)) >>> 0) / 2 ** 32
  }
}

const pause = (time: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, time))

const server = await startServer()
const random = series(seed)
/** One server after the other. */
const places = server.ports.map((port) => ({ port, random }))
const started = performance.now()
const elapsed = () => performance.now() - started
const wrong: Array<string> = []
let visits = 0

const nextVisit = (): Effect.Effect<void, Wrong> => {
  const place = places[visits % places.length]
  return place === undefined ? Effect.die(new Error("there is no server")) : visit(place)
}

/** Visits one after the other until the time is over. */
const worker = (until: number): Effect.Effect<void> =>
  Effect.whileLoop({
    while: () => elapsed() < until && wrong.length < 20,
    body: () => Effect.catch(nextVisit(), ({ what }: Wrong) => Effect.sync(() => void wrong.push(what))),
    step: () => {
      visits += 1
    }
  })

const samples: Array<Sample> = []
while (elapsed() < millis && wrong.length < 20) {
  const until = elapsed() + Math.max(every - calm, 1_000)
  await Effect.runPromise(Effect.all(
    Array.from({ length: workers }, () => worker(until)),
    { concurrency: "unbounded", discard: true }
  ))
  await pause(calm)
  const [ofServer, ofClients] = [await server.census(), await census()]
  const sample = { at: Math.round(elapsed() / 1000), server: ofServer, clients: ofClients }
  samples.push(sample)
  console.log(JSON.stringify({ ...sample, visits }))
}
server.stop()

const judged = samples.filter(({ at }) => at * 1000 > millis * settling)
const grown = growth(judged)
for (const text of [...wrong, ...grown]) console.log(text)
const verdict = { minutes, seed, visits, wrong, grown, samples }
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(verdict, undefined, 2))
console.log(`${visits} visits, ${wrong.length} wrong answers, ${grown.length} things that grew`)
// What the client left open is not waited for: it was counted.
process.exit(wrong.length + grown.length === 0 ? 0 : 1)
