import { appendFileSync } from "node:fs"

/**
 * Says in one line what a test leaves out on this machine and why, such as `Redis store: no server on 127.0.0.1:6379`.
 * `npm test` prints these lines at its end, each once; elsewhere it goes to stderr.
 */
export const leftOut = (line: string): void => {
  const file = process.env["MCPFX_LEFT_OUT"]
  const text = `${line.replaceAll("\n", " ")}\n`
  if (file === undefined) process.stderr.write(`left out: ${text}`)
  else appendFileSync(file, text)
}
