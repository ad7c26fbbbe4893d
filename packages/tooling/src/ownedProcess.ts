/** Programs that tests start, and the folders they write to: neither outlives its test. */
import { Effect, type Scope } from "effect"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Those that run: a test runner that ends without its scopes takes them with it. */
const running = new Set<ChildProcess>()
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL")
})

/** The same process, which ends with this one at the latest. */
export const owned = <Child extends ChildProcess>(child: Child): Child => {
  running.add(child)
  child.once("exit", () => running.delete(child))
  return child
}

export const ended = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

/** Ends a process at once, as a crash would, and waits until it is gone. */
export const stop = async (child: ChildProcess | undefined): Promise<void> => {
  if (child === undefined || ended(child)) return
  const exit = once(child, "exit")
  child.kill("SIGKILL")
  await exit
}

/** A folder that goes with the scope, with all that is in it. */
export const temporaryFolder = (name: string): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), `mcpfx-${name}-`))),
    // A program that is about to end may still write to it.
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  )
