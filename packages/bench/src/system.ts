/** What the system knows of a process. */
import { readdirSync, readFileSync } from "node:fs"

/** Nanoseconds on a processor in a line of `/proc/<pid>/task/<tid>/schedstat`, in milliseconds. */
const cpuIn = (schedstat: string): number => Number(schedstat.split(" ")[0]) / 1e6

const threadCpu = (file: string): number => {
  try {
    return cpuIn(readFileSync(file, "utf8"))
  } catch {
    // The thread ended between the two looks. Node keeps those that do the work.
    return 0
  }
}

/** Processor time of a process, user and system, all threads that it has, in milliseconds. */
export const cpuOf = (pid: number): number => {
  const folder = `/proc/${pid}/task`
  return readdirSync(folder).reduce((sum, thread) => sum + threadCpu(`${folder}/${thread}/schedstat`), 0)
}

/** Memory of a process that is not swapped out, in bytes. */
export const rssOf = (pid: number): number => {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))
  return Number(line?.[1]) * 1024
}

/** The model of the first processor. */
export const cpuModel = (): string =>
  /^model name\s*: (.+)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1] ?? "unknown"
