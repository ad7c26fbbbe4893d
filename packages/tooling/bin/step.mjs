// Runs one command as if it had been called directly: same input and output, signals passed on, its exit code returned.
import { spawn } from "node:child_process"
import { constants } from "node:os"

const signals = ["SIGINT", "SIGTERM", "SIGHUP"]

/**
 * npm starts a shell and sends its signals to that shell alone, which may die of them without telling us. So under npm
 * the end of the parent counts as a request to stop.
 */
const onOrphaned = (stop) => {
  if (process.env.npm_lifecycle_event === undefined) return () => {}
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    stop()
  }, 200)
  return () => clearInterval(timer)
}

export const runStep = (command, args, env) =>
  new Promise((settle, reject) => {
    const child = spawn(command, args, { stdio: "inherit", env })
    const forward = (signal) => {
      // A terminal sends Ctrl-C to the whole group, so the child has it already.
      if (signal === "SIGINT" && process.stdin.isTTY) return
      child.kill(signal)
    }
    for (const signal of signals) process.on(signal, forward)
    const stopWatching = onOrphaned(() => child.kill("SIGTERM"))
    const done = (finish) => {
      stopWatching()
      for (const signal of signals) process.off(signal, forward)
      finish()
    }
    child.on("error", (error) => done(() => reject(error)))
    child.on("exit", (code, signal) => done(() => settle(code ?? 128 + (constants.signals[signal] ?? 0))))
  })
