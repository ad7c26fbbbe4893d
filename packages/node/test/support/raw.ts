/** A client that writes bytes and sees bytes. */
import { Effect, type Scope } from "effect"
import { connect, type Socket } from "node:net"

/** Writes pieces, one after the other, and reads until the server closes; `wait` is between the pieces. */
export const raw = (port: number, pieces: ReadonlyArray<string>, wait = 0): Effect.Effect<string> =>
  Effect.callback((resume) => {
    const socket = connect(port, "127.0.0.1")
    let text = ""
    let next = 0
    const write = (): void => {
      const piece = pieces[next++]
      if (piece === undefined || socket.destroyed) return
      socket.write(piece)
      setTimeout(write, wait)
    }
    socket.setEncoding("latin1")
    socket.on("data", (chunk: string) => {
      text += chunk
    })
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed(text)))
    socket.on("connect", write)
    return Effect.sync(() => socket.destroy())
  })

/** A request as text; its connection ends with the answer unless `more` follows. */
export const head = (line: string, headers: Record<string, string | number> = {}, more = false): string =>
  [
    `${line} HTTP/1.1`,
    "host: 127.0.0.1",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(more ? [] : ["connection: close"]),
    "",
    ""
  ].join("\r\n")

/** A connection in the hands of the test. */
export interface Peer {
  readonly socket: Socket
  /** What has come so far. */
  readonly heard: () => string
  /** All that came, once the connection is over, and the error that it ended with. */
  readonly over: Effect.Effect<{ readonly text: string; readonly error: string | undefined }>
}

/** Connects, says something, and leaves the rest to the test. */
export const peer = (port: number, first = ""): Effect.Effect<Peer, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<Peer>((resume) => {
      const socket = connect(port, "127.0.0.1")
      let text = ""
      let error: string | undefined
      const over = new Promise<void>((resolve) => socket.once("close", () => resolve()))
      socket.setEncoding("latin1").on("data", (chunk: string) => {
        text += chunk
      })
      socket.on("error", (cause) => {
        error = "code" in cause ? String(cause.code) : cause.name
      })
      socket.once("connect", () => {
        if (first !== "") socket.write(first)
        resume(Effect.succeed({
          socket,
          heard: () => text,
          over: Effect.map(Effect.promise(() => over), () => ({ text, error }))
        }))
      })
    }),
    ({ socket }) => Effect.sync(() => socket.destroy())
  )

/** Looks again and again until it is so, for two seconds at most. */
export const eventually = (what: string, look: () => boolean): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (let tries = 0; tries < 200; tries++) {
      if (look()) return
      yield* Effect.sleep(10)
    }
    return yield* Effect.die(new Error(`never: ${what}`))
  })
