/** The floor over lines. */
import { answer, answered, type Message } from "./floorOffer.ts"

export const serveStdio = (): void => {
  let rest = ""
  let out: string | undefined
  /** Lines that are written while others are read go out together. */
  const write = (line: string) => {
    if (out === undefined) process.stdout.write(`${line}\n`)
    else out += `${line}\n`
  }
  const call = { notify: (message: object) => write(JSON.stringify(message)), announce: () => {} }
  const take = (line: string) => {
    const message: Message = JSON.parse(line)
    if (message.method === undefined) return answered(message)
    if (message.id === undefined) return
    const text = answer(message, call)
    if (typeof text === "string") write(text)
    else void text.then(write)
  }
  process.stdin.setEncoding("utf8")
  process.stdin.on("data", (chunk: string) => {
    const end = chunk.lastIndexOf("\n")
    if (end < 0) {
      rest += chunk
      return
    }
    const lines = (rest + chunk.slice(0, end)).split("\n")
    rest = chunk.slice(end + 1)
    out = ""
    for (const line of lines) take(line)
    const written = out
    out = undefined
    if (written !== "") process.stdout.write(written)
  })
}
