/** A client over lines. */
import type { Readable, Writable } from "node:stream"

const newline = 10

/** What both ends of a connection look like from here. */
export interface Pipe {
  readonly stdin: Writable
  readonly stdout: Readable
}

/** Hears the output until `end`, or until it ends by itself, which is an error. */
const hear = (pipe: Pipe, onData: (chunk: Buffer) => void, reject: (error: Error) => void): () => void => {
  const end = () => {
    pipe.stdout.off("data", onData)
    pipe.stdout.off("end", onEnd)
  }
  const onEnd = () => {
    end()
    reject(new Error("the output ended"))
  }
  pipe.stdout.on("data", onData)
  pipe.stdout.on("end", onEnd)
  return end
}

/** Sends one line and gives the next line that comes. */
export const exchange = (pipe: Pipe, line: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const parts: Array<Buffer> = []
    const end = hear(pipe, (chunk) => {
      parts.push(chunk)
      if (!chunk.includes(newline)) return
      end()
      const text = Buffer.concat(parts).toString("utf8")
      resolve(JSON.parse(text.slice(0, text.indexOf("\n"))))
    }, reject)
    pipe.stdin.write(`${line}\n`)
  })

export interface StdioLoad {
  /** Writes the text of the request of this id. */
  readonly body: (id: number) => string
  readonly first: number
  readonly count: number
  /** Requests that wait for their answers at the same time. */
  readonly window: number
  /** Bytes that an answer has at least, which are counted and not read. */
  readonly least: number
}

/**
 * Sends that many requests and resolves when as many lines have come back. Gives how long each took, in milliseconds, where
 * they are sent one at a time.
 */
export const run = (pipe: Pipe, load: StdioLoad): Promise<ReadonlyArray<number>> =>
  new Promise((resolve, reject) => {
    const latencies: Array<number> = []
    let sent = 0
    let answered = 0
    let bytes = 0
    let since = 0
    const send = (many: number) => {
      let text = ""
      for (let i = 0; i < many && sent < load.count; i++) text += `${load.body(load.first + sent++)}\n`
      since = performance.now()
      if (text !== "") pipe.stdin.write(text)
    }
    const done = () => {
      end()
      if (answered > load.count) reject(new Error(`${answered} answers to ${load.count} requests`))
      else if (bytes < load.count * load.least) reject(new Error(`${bytes} bytes are too few for ${answered} answers`))
      else resolve(latencies)
    }
    const end = hear(pipe, (chunk) => {
      let lines = 0
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) lines++
      answered += lines
      bytes += chunk.length
      if (load.window === 1 && lines > 0) latencies.push(performance.now() - since)
      if (answered >= load.count) done()
      else if (lines > 0) send(lines)
    }, reject)
    send(load.window)
  })

/** Gives every message that comes to `hear`, read, until it says that it has heard enough. */
export const converse = (pipe: Pipe, begin: string, hearMessage: (message: unknown) => boolean): Promise<void> =>
  new Promise((resolve, reject) => {
    let rest = ""
    const end = hear(pipe, (chunk) => {
      const lines = (rest + chunk.toString("utf8")).split("\n")
      rest = lines.pop() ?? ""
      try {
        for (const line of lines) {
          if (!hearMessage(JSON.parse(line))) continue
          end()
          resolve()
        }
      } catch (error) {
        end()
        reject(error instanceof Error ? error : new Error(String(error)))
      }
    }, reject)
    pipe.stdin.write(begin)
  })
