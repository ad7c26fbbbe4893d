/** A client over lines that only counts what comes back. */
import type { Readable, Writable } from "node:stream"

const newline = 10

/** What both ends of a connection look like from here. */
export interface Pipe {
  readonly stdin: Writable
  readonly stdout: Readable
}

export interface StdioLoad {
  /** Writes the text of the request of this id. */
  readonly body: (id: number) => string
  readonly first: number
  readonly count: number
  /** Requests that wait for their answers at the same time. */
  readonly window: number
}

/** Sends one line and gives the next line that comes. */
export const exchange = (pipe: Pipe, line: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    let text = ""
    const end = () => {
      pipe.stdout.off("data", onData)
      pipe.stdout.off("end", onEnd)
    }
    const onData = (chunk: Buffer) => {
      text += chunk.toString("utf8")
      const at = text.indexOf("\n")
      if (at < 0) return
      end()
      resolve(JSON.parse(text.slice(0, at)))
    }
    const onEnd = () => {
      end()
      reject(new Error("the output ended"))
    }
    pipe.stdout.on("data", onData)
    pipe.stdout.on("end", onEnd)
    pipe.stdin.write(`${line}\n`)
  })

/** Sends that many requests and resolves when as many lines have come back. */
export const run = (pipe: Pipe, load: StdioLoad): Promise<void> =>
  new Promise((resolve, reject) => {
    let sent = 0
    let answered = 0
    const send = (many: number) => {
      let text = ""
      for (let i = 0; i < many && sent < load.count; i++) text += `${load.body(load.first + sent++)}\n`
      if (text !== "") pipe.stdin.write(text)
    }
    const end = () => {
      pipe.stdout.off("data", onData)
      pipe.stdout.off("end", onEnd)
    }
    const onData = (chunk: Buffer) => {
      let lines = 0
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) lines++
      answered += lines
      if (answered >= load.count) {
        end()
        if (answered > load.count) reject(new Error(`${answered} answers to ${load.count} requests`))
        else resolve()
      } else send(lines)
    }
    const onEnd = () => {
      end()
      reject(new Error(`the output ended after ${answered} of ${load.count} answers`))
    }
    pipe.stdout.on("data", onData)
    pipe.stdout.on("end", onEnd)
    send(load.window)
  })
