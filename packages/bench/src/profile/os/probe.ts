/** Loaded into the servers of the profile: tells what they have used when it is asked over the channel of the process. */
import { PerformanceObserver } from "node:perf_hooks"

let collecting = 0

const observer = new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) collecting += entry.duration
})
observer.observe({ entryTypes: ["gc"] })

process.on("disconnect", () => process.exit(0))

process.on("message", (message) => {
  if (message !== "usage") return
  // Entries of the collector come a turn later.
  setImmediate(() => {
    const { system, user } = process.cpuUsage()
    process.send?.({ micros: user + system, collecting: collecting * 1000 })
  })
})
