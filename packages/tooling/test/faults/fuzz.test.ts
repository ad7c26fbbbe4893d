/** `MCPFX_FUZZ_SECONDS` says how long each transport runs, 10 by default; `MCPFX_FUZZ_SEED` repeats a run. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { FuzzedHttp, spoil as spoilHttp } from "../../src/faults/fuzzHttp.ts"
import { FuzzedProcess, shrink } from "../../src/faults/fuzzStdio.ts"
import * as Server from "../../src/faults/httpServer.ts"
import { spoil } from "../../src/faults/mutate.ts"
import { Random } from "../../src/faults/random.ts"
import { record } from "../../src/faults/record.ts"
import { registrations } from "../../src/faults/registrations.ts"
import { at, parse, send } from "../../src/faults/wire.ts"
import { eventually, noMore, resources } from "./support.ts"

const seconds = Number(process.env["MCPFX_FUZZ_SECONDS"] ?? 10)
const seed = Number(process.env["MCPFX_FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31))
const revisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const

const serve = Effect.fnUntraced(function*(kind?: Server.Kind) {
  // A session whose opening was cut is known to nobody: it has to go by itself.
  const limits = { idle: Duration.seconds(2) }
  const context = yield* Layer.build(Server.layer(registrations(), { limits }, kind))
  const port = yield* Effect.provideContext(Server.port, context)
  const health = Effect.map(
    Effect.promise(() => send(port, { method: "GET", path: "/healthz" })),
    ({ text }) => {
      const endpoint = at(parse(text), "endpoints", 0)
      return {
        inFlight: at(endpoint, "inFlight"),
        listening: at(endpoint, "listening"),
        sessions: at(endpoint, "sessions")
      }
    }
  )
  return { health, port }
})

/** The traffic of every revision that the transport has. */
const traffic = Effect.fnUntraced(function*(port: number) {
  const all = yield* Effect.forEach(revisions, (version) =>
    // 2024-11-05 has no HTTP of this kind: what it says is like what 2025-03-26 says.
    Effect.map(record(port, version === "2024-11-05" ? "2025-03-26" : version), (recorded) => ({ version, recorded })))
  return all.map(({ recorded, version }) => ({
    version,
    // A call that never ends would only be waited for.
    recorded: recorded.filter(({ body }) => !body.includes("\"never\"")),
    texts: recorded.map(({ body }) => body.replaceAll("2025-03-26", version)).filter((body) => body !== "")
  }))
})

const show = (lines: ReadonlyArray<Uint8Array>) =>
  lines.map((line) => JSON.stringify(new TextDecoder().decode(line).slice(0, 2000))).join("\n")

/** How much longer it goes on, for a part of the time. */
const clock = (part = 1) => {
  const end = performance.now() + seconds * part * 1000
  return () => performance.now() < end
}

describe(`spoilt traffic, MCPFX_FUZZ_SEED=${seed}`, () => {
  it.live(
    "over stdio: every good request is answered right, the process lives, nothing is left",
    () =>
      Effect.gen(function*() {
        const { port } = yield* serve()
        const conversations = yield* traffic(port)
        yield* Effect.promise(async () => {
          const random = new Random(seed)
          const server = await FuzzedProcess.start()
          const before = await server.left()
          const goesOn = clock()
          let rounds = 0
          while (goesOn()) {
            rounds++
            const spoilt = spoil(random.pick(conversations)?.texts ?? [], random)
            const wrong = await server.round(spoilt)
            server.clear()
            if (wrong === undefined) continue
            const least = await shrink(spoilt, async (lines) => {
              const again = await FuzzedProcess.start()
              const failed = await again.round(lines)
              await again.stop()
              return failed !== undefined
            })
            assert.fail(`seed ${seed}, round ${rounds}: ${wrong}\n${show(least)}`)
          }
          assert.deepStrictEqual(await server.left(), before)
          const { code } = await server.stop()
          assert.strictEqual(code, 0)
          console.log(`${rounds} rounds over stdio, seed ${seed}`)
        })
      }),
    (seconds + 30) * 1000
  )

  it.live.each(Server.kinds)(
    "over HTTP, behind %s: every good request is answered right, and no session, stream, timer or socket is left",
    (kind) =>
      Effect.gen(function*() {
        const { health, port } = yield* serve(kind)
        const conversations = yield* traffic(port)
        yield* eventually("the recorded sessions end", Effect.map(health, ({ sessions }) => sessions === 0))
        const before = { health: yield* health, resources: yield* resources }
        yield* Effect.promise(async () => {
          const random = new Random(seed)
          const fuzzed = new FuzzedHttp(port)
          await fuzzed.start()
          const goesOn = clock(1 / Server.kinds.length)
          let rounds = 0
          while (goesOn()) {
            rounds++
            const conversation = random.pick(conversations)
            if (conversation === undefined) break
            const session = await fuzzed.victim(
              conversation.version === "2024-11-05" ? "2025-03-26" : conversation.version
            )
            const spoilt = spoilHttp(conversation.recorded, session, random)
            const wrong = await fuzzed.round(spoilt)
            if (wrong === undefined) continue
            const least = await shrink(spoilt, async (requests) => (await fuzzed.round(requests)) !== undefined)
            const shown = least.map(({ body, headers, method }) =>
              `${method} ${JSON.stringify(headers)} ${show([body])}`
            )
            assert.fail(`seed ${seed}, round ${rounds}: ${wrong}\n${shown.join("\n")}`)
          }
          await fuzzed.stop()
          console.log(`${rounds} rounds over HTTP behind ${kind}, seed ${seed}`)
        })
        yield* eventually(
          "the endpoint is as before",
          Effect.map(health, (now) => JSON.stringify(now) === JSON.stringify(before.health))
        ).pipe(Effect.onError(() => Effect.flatMap(health, (now) => Effect.sync(() => console.log(now)))))
        yield* eventually(
          `the process is as before: ${JSON.stringify(before.resources)}`,
          Effect.map(resources, (now) => noMore(now, before.resources))
        )
      }),
    (seconds + 30) * 1000
  )
})
