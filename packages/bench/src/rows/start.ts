import { cpuOf, start } from "../child.ts"
import { bundle, bundledFile, contenders, minimalFile } from "../contenders.ts"
import * as Stdio from "../load/stdio.ts"
import * as Messages from "../messages.ts"
import { atMost, atMostWhere, everybody, type Row } from "../row.ts"
import { numbers } from "./memory.ts"

const inCpu = process.argv.includes("--cpu")
const unit = inCpu ? "ms CPU" : "ms"

/**
 * From the start of the process to the answer to `initialize`, in the time that passes; `--cpu` counts processor time, which
 * other programs disturb less.
 */
const timeToAnswer = async (file: string): Promise<number> => {
  const started = performance.now()
  const child = start(file, ["--conditions=mcpfx-dist", file], { ipc: false })
  try {
    await Stdio.exchange(child, Messages.initialize)
    return inCpu ? cpuOf(child.pid) : performance.now() - started
  } finally {
    await child.stop()
  }
}

const installed: Row = {
  id: "cold-installed",
  title: "cold start to the answer to initialize, installed",
  unit,
  contenders: everybody,
  relative: true,
  budgets: { first: atMostWhere(350, 49), final: atMostWhere(200, 49) },
  measure: (effort) => numbers(everybody, effort, (contender) => timeToAnswer(minimalFile(contender)))
}

const bundled: Row = {
  id: "cold-bundled",
  title: "cold start to the answer to initialize, bundled",
  unit,
  contenders: everybody,
  relative: true,
  budgets: { first: atMostWhere(130, 36), final: atMostWhere(100, 36) },
  measure: async (effort) => {
    for (const contender of contenders) await bundle(contender)
    return numbers(everybody, effort, (contender) => timeToAnswer(bundledFile(contender)))
  }
}

const size: Row = {
  id: "size",
  title: "bundled minimal stdio server, gzipped",
  unit: "KiB",
  contenders: everybody,
  relative: false,
  budgets: { first: atMost(120), final: atMost(90) },
  measure: (effort) =>
    numbers(everybody, { ...effort, rounds: 1 }, async (contender) => (await bundle(contender)).gzipped / 1024)
}

export const startRows: ReadonlyArray<Row> = [installed, bundled, size]
