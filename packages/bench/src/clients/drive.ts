/** Has a client make the calls it is told to make: `client.js stdio|http <target> <window>`. */

export interface Target {
  readonly transport: "stdio" | "http"
  /** The file of the server, or its address. */
  readonly target: string
  /** Calls in flight. */
  readonly window: number
}

const [transport, target = "", window = "1"] = process.argv.slice(2)

export const start: Target = {
  transport: transport === "http" ? "http" : "stdio",
  target,
  window: Number(window)
}

export const info = { name: "bench", version: "1.0.0" } as const

/** Throws unless the text is the sum that was asked for with this `a`. */
export const checkSum = (a: number, text: unknown): void => {
  if (text !== String(a + 1)) throw new Error(`not the sum of ${a} and 1: ${String(text)}`)
}

/** Makes calls one by one, some at the same time. */
export const byPromises = (call: (a: number) => Promise<void>) => async (first: number, count: number) => {
  let sent = 0
  const drive = async () => {
    while (sent < count) await call(first + sent++)
  }
  await Promise.all(Array.from({ length: start.window }, drive))
}

const isJob = (message: unknown): message is { readonly first: number; readonly count: number } =>
  typeof message === "object" && message !== null && "first" in message && "count" in message

/** Does what comes over the channel of the process; `run` makes calls of `add` with `a` from `first` on and `b` 1. */
export const drive = (run: (first: number, count: number) => Promise<void>): void => {
  process.on("message", (message) => {
    if (!isJob(message)) return
    run(message.first, message.count).then(
      () => process.send?.({ done: true }),
      (error: unknown) => process.send?.({ done: String(error) })
    )
  })
  process.send?.({ ready: true })
}
