import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Effect } from "effect"
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { idOf } from "./support/stdio.ts"

describe("as a program", () => {
  const program = fileURLToPath(new URL("./fixtures/server.mjs", import.meta.url))

  interface Run {
    readonly child: ChildProcessWithoutNullStreams
    readonly stdout: () => string
    readonly stderr: () => string
    /** Resolves when the output has this many lines. */
    readonly lines: (count: number) => Promise<ReadonlyArray<unknown>>
    readonly exit: Promise<number | NodeJS.Signals | null>
  }

  const start = (...argv: ReadonlyArray<string>): Run => {
    const child = spawn(process.execPath, [program, ...argv], { stdio: "pipe" })
    let out = ""
    let err = ""
    let wake = () => {}
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text
      wake()
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      err += text
    })
    child.stdin.on("error", () => {})
    const parsed = () => out.split("\n").slice(0, -1).map((line): unknown => JSON.parse(line))
    return {
      child,
      stdout: () => out,
      stderr: () => err,
      lines: (count) =>
        new Promise((resolve) => {
          wake = () => {
            if (parsed().length >= count) resolve(parsed())
          }
          wake()
        }),
      exit: new Promise((resolve) => {
        child.on("close", (exitCode, signal) => resolve(exitCode ?? signal))
      })
    }
  }
  const request = (id: number, method: string, params: JsonRpc.JsonObject = {}) =>
    `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`
  const temporary = () => join(mkdtempSync(join(tmpdir(), "mcpfx-")), "released")

  it.live("[SHT-01] answers what is in flight when its input ends at once, then exits with 0", () =>
    Effect.promise(async () => {
      const run = start()
      run.child.stdin.end(request(1, "ping") + request(2, "slow", { ms: 200 }) + request(3, "ping").trim())
      assert.strictEqual(await run.exit, 0)
      const ids = run.stdout().trim().split("\n").map((line) => idOf(JSON.parse(line)))
      assert.deepStrictEqual(ids, [1, 3, 2])
      assert.strictEqual(run.stderr(), "")
    }))

  it.live("[FRM-17] writes a large answer whole to a slow reader before it exits", () =>
    Effect.promise(async () => {
      const run = start()
      run.child.stdout.pause()
      run.child.stdin.end(request(1, "big", { bytes: 2_000_000 }))
      setTimeout(() => run.child.stdout.resume(), 600)
      assert.strictEqual(await run.exit, 0)
      const answer: unknown = JSON.parse(run.stdout())
      const result = JsonRpc.isJsonObject(answer) ? answer["result"] : undefined
      assert.isTrue(JsonRpc.isJsonObject(result) && String(result["text"]).length === 2_000_000)
    }))

  it.live("[FRM-10] [SHT-05] runs its finalizers and exits with 0 when its input ends", () =>
    Effect.promise(async () => {
      const file = temporary()
      const run = start(file)
      run.child.stdin.write(request(1, "ping"))
      await run.lines(1)
      run.child.stdin.end()
      assert.strictEqual(await run.exit, 0)
      assert.strictEqual(readFileSync(file, "utf8"), "released")
    }))

  it.live("[SHT-05] runs its finalizers on SIGTERM", () =>
    Effect.promise(async () => {
      const file = temporary()
      const run = start(file)
      run.child.stdin.write(request(1, "ping") + request(2, "slow", { ms: 60_000 }))
      await run.lines(1)
      run.child.kill("SIGTERM")
      await run.exit
      assert.strictEqual(readFileSync(file, "utf8"), "released")
    }))

  it.live("[FRM-07] stops quietly when its client goes away in the middle of a call", () =>
    Effect.promise(async () => {
      const file = temporary()
      const run = start(file)
      run.child.stdin.write(request(1, "ping"))
      await run.lines(1)
      run.child.stdin.write(request(2, "slow", { ms: 200 }))
      await new Promise((resume) => setTimeout(resume, 50))
      run.child.stdout.destroy()
      run.child.stdin.destroy()
      assert.strictEqual(await run.exit, 0)
      assert.strictEqual(run.stderr(), "")
      assert.strictEqual(readFileSync(file, "utf8"), "released")
    }))

  it.live("[FRM-13] programs that a tool starts neither read its input nor write to its output", () =>
    Effect.promise(async () => {
      const run = start()
      run.child.stdin.write(request(1, "run"))
      await run.lines(1)
      run.child.stdin.end(request(2, "ping"))
      assert.strictEqual(await run.exit, 0)
      assert.deepStrictEqual(await run.lines(2), [
        { jsonrpc: "2.0", id: 1, result: { exitCode: 0 } },
        { jsonrpc: "2.0", id: 2, result: {} }
      ])
    }))
})
