/** A client that writes bytes and sees bytes. */
import { Effect } from "effect"
import { connect } from "node:net"

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
