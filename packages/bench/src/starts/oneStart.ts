/** One start of a program, from the process to its answer to `initialize`. */
import { start } from "../child.ts"
import * as Stdio from "../load/stdio.ts"
import * as Messages from "../messages.ts"
import { cpuOf, rssOf } from "../system.ts"

/** What it took until the answer was there. */
export interface Start {
  /** Milliseconds by the clock. */
  readonly wall: number
  /** Milliseconds of processor time. */
  readonly cpu: number
  /** MiB. */
  readonly memory: number
}

/** Where Node is to keep what it compiled, if it is to keep it. */
const environment = (cache: string | undefined) => (cache === undefined ? {} : { NODE_COMPILE_CACHE: cache })

export const oneStart = async (file: string, cache?: string): Promise<Start> => {
  const since = performance.now()
  const child = start(file, ["--conditions=mcpfx-dist", file], { ipc: false, env: environment(cache) })
  try {
    await Stdio.exchange(child, Messages.initialize)
    return { wall: performance.now() - since, cpu: cpuOf(child.pid), memory: rssOf(child.pid) / 1024 / 1024 }
  } finally {
    await child.stop()
  }
}

/** A start and an orderly end: only then does Node write down what it compiled. */
export const fillCache = async (file: string, cache: string): Promise<void> => {
  const child = start(file, ["--conditions=mcpfx-dist", file], { ipc: false, env: environment(cache) })
  try {
    const gone = new Promise((resolve) => child.process.once("exit", resolve))
    await Stdio.exchange(child, Messages.initialize)
    child.stdin.end()
    await gone
  } finally {
    await child.stop()
  }
}
