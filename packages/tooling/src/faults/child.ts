/** A server process, and what it says, line by line: no client of ours in between. */
import { type ChildProcess, spawn } from "node:child_process"
import { Waiting } from "./waiting.ts"

/** The end of a process. */
export interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export class Child {
  readonly process: ChildProcess
  readonly ended: Promise<End>
  readonly lines = new Waiting<string>()
  stderr = ""

  constructor(file: string, args: ReadonlyArray<string> = []) {
    const child = spawn(process.execPath, [file, ...args], { stdio: ["pipe", "pipe", "pipe"] })
    this.process = child
    this.ended = new Promise((resolve) => {
      child.once("exit", (code, signal) => resolve({ code, signal }))
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr = (this.stderr + text).slice(-100_000)
    })
    // Writing to one that has gone is part of what is tried here.
    child.stdin.on("error", () => {})
    // Not `readline`, for which U+2028 ends a line too.
    let rest = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) this.lines.push(line)
    })
    void this.ended.then(() => this.lines.end())
  }

  write(text: string | Uint8Array): void {
    this.process.stdin?.write(text)
  }

  send(message: unknown): void {
    this.write(`${JSON.stringify(message)}\n`)
  }

  end(): void {
    this.process.stdin?.end()
  }

  kill(signal: NodeJS.Signals): void {
    this.process.kill(signal)
  }
}
