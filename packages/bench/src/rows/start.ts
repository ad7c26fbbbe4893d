import { cpuOf, start } from "../child.ts"
import { bundle, bundledFile, contenders, minimalFile } from "../contenders.ts"
import * as Stdio from "../load/stdio.ts"
import * as Messages from "../messages.ts"
import { atMost, everybody, type Row } from "../row.ts"
import { numbers } from "./memory.ts"

/**
 * From the start of the process to the answer to `initialize`: processor time, which is what is left of the time that
 * passes where nobody else runs. The time that passed is shown by `--wall`.
 */
const timeToAnswer = async (file: string, wall: boolean): Promise<number> => {
  const started = performance.now()
  const child = start(file, ["--conditions=mcpfx-dist", file], { ipc: false })
  try {
    await Stdio.exchange(child, Messages.initialize)
    return wall ? performance.now() - started : cpuOf(child.pid)
  } finally {
    await child.stop()
  }
}

const wall = process.argv.includes("--wall")
const unit = wall ? "ms wall" : "ms CPU"

const installed: Row = {
  id: "cold-installed",
  title: "cold start to the answer to initialize, installed",
  unit,
  contenders: everybody,
  relative: false,
  budgets: { first: atMost(350), final: atMost(200) },
  measure: (effort) => numbers(everybody, effort, (contender) => timeToAnswer(minimalFile(contender), wall))
}

const bundled: Row = {
  id: "cold-bundled",
  title: "cold start to the answer to initialize, bundled",
  unit,
  contenders: everybody,
  relative: false,
  budgets: { first: atMost(130), final: atMost(100) },
  measure: async (effort) => {
    for (const contender of contenders) await bundle(contender)
    return numbers(everybody, effort, (contender) => timeToAnswer(bundledFile(contender), wall))
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
