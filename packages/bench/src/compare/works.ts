/** What is compared, and how either build does it. */
import * as Messages from "../messages.ts"
import { calibrate } from "../rounds.ts"
import { oneStart } from "../starts/oneStart.ts"
import type { Subject } from "../subject.ts"
import { httpSubject } from "../subjects/http.ts"
import { stdioSubject } from "../subjects/stdio.ts"
import type { Program, Side } from "./sides.ts"

/** One process of a build that is ready to be measured. */
export interface Runner {
  /** Does its share, and gives what that cost. */
  readonly turn: () => Promise<number>
  readonly stop: () => Promise<void>
}

export interface Work {
  readonly id: string
  readonly title: string
  readonly unit: string
  /** Times that each process has its turn in a round. */
  readonly turns: number
  readonly program: Program
  readonly make: (file: string) => Promise<Runner>
}

/** Milliseconds of processor time: for a turn, and before the first. */
const effort = { rounds: 0, share: 50, warmUp: 1200, only: undefined }

const work = (id: string, title: string, subject: (served: { readonly file: string }) => Promise<Subject>): Work => ({
  id,
  title,
  unit: "ms/1000",
  turns: 2,
  program: "servers",
  make: async (file) => {
    const one = await subject({ file })
    try {
      const count = await calibrate(one, effort)
      return {
        turn: async () => {
          const before = one.cpu()
          await one.run(count)
          return (one.cpu() - before) / count * 1000
        },
        stop: one.stop
      }
    } catch (error) {
      await one.stop()
      throw error
    }
  }
})

const timeToAnswer = async (file: string): Promise<number> => (await oneStart(file)).cpu

const coldStart: Work = {
  id: "cold",
  title: "cold start to the answer to initialize",
  unit: "ms CPU",
  turns: 1,
  program: "minimal",
  make: async (file) => {
    // The first one reads files that no other has read.
    await timeToAnswer(file)
    return { turn: () => timeToAnswer(file), stop: () => Promise.resolve() }
  }
}

const add = Messages.add("2025-11-25")

export const works: ReadonlyArray<Work> = [
  work("stdio-1", "stdio, one at a time", (served) => stdioSubject(served, { template: add, window: 1 })),
  work("stdio-64", "stdio, 64 in flight", (served) => stdioSubject(served, { template: add, window: 64 })),
  work(
    "list",
    "tools/list of 103, stdio",
    (served) => stdioSubject(served, { template: Messages.list, window: 8, fillers: 100 })
  ),
  work("http", "HTTP, 32 connections, stateful", (served) => httpSubject(served, { template: add, connections: 32 })),
  work(
    "http-modern",
    "HTTP, 32 connections, 2026-07-28",
    (served) => httpSubject(served, { template: Messages.add("2026-07-28"), connections: 32, stream: true })
  ),
  work(
    "sse-modern",
    "SSE with 3 progress events, 2026-07-28",
    (served) => httpSubject(served, { template: Messages.progress("2026-07-28"), connections: 32, stream: true })
  ),
  coldStart
]

/** Starts the first of a side's programs that does the work. */
export const runnerOf = async (work: Work, side: Side): Promise<Runner> => {
  const reasons: Array<string> = []
  for (const file of side.files[work.program]) {
    try {
      return await work.make(file)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      reasons.push(reason)
      if (side.files[work.program].length > 1) {
        console.error(`${side.name}, ${work.id}, ${file}: ${reason.slice(0, 300)}`)
      }
    }
  }
  throw new Error(`${side.name}: ${reasons.join("; ")}`)
}
