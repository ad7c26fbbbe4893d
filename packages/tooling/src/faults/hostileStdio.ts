/** A hostile server over standard input and output; the first argument says in which way. */
import { modes, say } from "./hostile.ts"
import { isJson, parse } from "./wire.ts"

const mode = modes.find((mode) => mode === process.argv[2]) ?? "silent"
let rest = ""

const answer = (line: string): void => {
  const message = parse(line)
  if (!isJson(message)) return
  const { out, then } = say(mode, message)
  const text = out.map((each) => typeof each === "string" ? each : JSON.stringify(each))
  // What is cut off has no end of line either.
  const written = then === "close" ? text.join("\n") : text.map((each) => `${each}\n`).join("")
  if (written !== "") process.stdout.write(written)
  if (then === "close") process.exit(3)
  if (then === "repeat") setTimeout(() => answer(line), 5)
}

process.stdin.setEncoding("utf8").on("data", (text: string) => {
  const lines = (rest + text).split("\n")
  rest = lines.pop() ?? ""
  for (const line of lines) answer(line)
})
process.stdin.on("end", () => process.exit(0))
