/** Loaded into servers: tells the size of the heap when it is asked over the channel of the process. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50))

process.on("disconnect", () => process.exit(0))

process.on("message", (message) => {
  if (message !== "heap") return
  void (async () => {
    for (let i = 0; i < 4; i++) {
      globalThis.gc?.()
      await settle()
    }
    process.send?.({ heap: process.memoryUsage().heapUsed })
  })()
})
