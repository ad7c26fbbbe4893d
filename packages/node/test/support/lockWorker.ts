/** A process that takes a lock some times; while it holds it, nobody else may touch the counter. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as FileLock from "@mcpfx/node/FileLock"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"

const [lock = "", counter = "", times = "0", mode = ""] = process.argv.slice(2)

/** To read, to wait and to write what was read and one more: two at once lose one. */
const critical = Effect.gen(function*() {
  const inside = `${counter}.inside`
  if (existsSync(inside)) writeFileSync(`${counter}.overlap`, String(process.pid))
  writeFileSync(inside, "")
  const count = Number(readFileSync(counter, "utf8"))
  yield* Effect.sleep("1 millis")
  writeFileSync(counter, String(count + 1))
  rmSync(inside, { force: true })
})

/** Holds it until it is killed. */
const hold = Effect.andThen(Effect.sync(() => process.stdout.write("held\n")), Effect.never)

/** Ends in the middle, as a crash does. */
const crash = Effect.andThen(critical, Effect.sync(() => process.kill(process.pid, "SIGKILL")))

const once = mode === "hold" ? hold : mode === "crash" ? crash : critical
const program = FileLock.withLock(lock, { wait: "15 seconds", stale: "2 seconds" })(once)

for (let left = Number(times); left > 0; left--) {
  await Effect.runPromise(Effect.provide(program, NodeFileSystem.layer))
}
