/** What every server offers, whatever it is made with: names, texts, and the state that its tools share. */
import { setTimeout } from "node:timers/promises"

export const info = { name: "interop", version: "1.0.0" }

export const tools = {
  add: { name: "add", description: "Adds two numbers" },
  fail: { name: "fail", description: "Always ends with an error" },
  steps: { name: "steps", description: "Reports three steps, a moment apart, then ends" },
  burst: { name: "burst", description: "Reports three steps at once, then ends" },
  say: { name: "say", description: "Logs one message" },
  wait: { name: "wait", description: "Waits until it is cancelled" },
  status: { name: "status", description: "Tells how many calls wait and how many were cancelled" },
  grow: { name: "grow", description: "Adds the tool `late`, or removes it" },
  touch: { name: "touch", description: "Says that the message of the day has changed" },
  where: { name: "where", description: "Tells the working directory and the variable INTEROP_WORD" }
} as const

/** All that `tools/list` gives at first, in order. */
export const toolNames: ReadonlyArray<string> = Object.keys(tools).toSorted()

/** Tools that ask the client while they run. */
export const asks = {
  name: { name: "ask_name", description: "Asks the user for a name, by a form" },
  again: { name: "ask_again", description: "Asks the user for something that no user gives" },
  model: { name: "ask_model", description: "Asks the model of the client" },
  roots: { name: "ask_roots", description: "Asks for the roots of the client" }
} as const
export const isAsk = (name: string): boolean => name.startsWith("ask_")

/** The forms of `ask_name` and `ask_again`. */
export const form = (message: string) => ({
  message,
  requestedSchema: {
    type: "object" as const,
    properties: { name: { type: "string" as const, title: "Name" } },
    required: ["name"]
  }
})
export const whatName = "What is your name?"
export const whatSecret = "What is your secret?"
export const question = {
  messages: [{ role: "user" as const, content: { type: "text" as const, text: "What is the answer?" } }],
  maxTokens: 10
}

/** What every client answers; `whatSecret` is declined. */
export const answers = { name: "Ada", text: "42", model: "deep-thought", root: "file:///home/ada" }
export const declined = "the user declined"
export const hello = (name: string): string => `Hello, ${name}.`

/** What `grow` adds; some servers add more of them. */
export const late = { name: "late", description: "Comes and goes" }
export const isLate = (name: string): boolean => name.startsWith(late.name)
export const failure = "it always fails"
export const said = "said by the server"
export const steps = [1, 2, 3] as const
/** How far `steps` are apart, in milliseconds. */
export const moment = 60
export const done = "done"

export const motd = { uri: "memo://motd", name: "motd", text: "Be kind.", mimeType: "text/plain" }
export const note = { uriTemplate: "memo://note/{name}", name: "note", mimeType: "text/plain" }
export const noteText = (name: string): string => `the note of ${name}`
export const greet = { name: "greet", description: "Asks for a greeting" }
export const greeting = (who: string): string => `Greet ${who}.`

/** Completes the names that notes and greetings take. */
export const complete = (typed: string): Array<string> =>
  ["ada", "alan", "grace"].filter((name) => name.startsWith(typed))

/** Calls of `wait` in this process: those that wait now, and all that were cancelled. */
export const waiting = { now: 0, cancelled: 0 }

export const status = () => ({ waiting: waiting.now, cancelled: waiting.cancelled })

export const where = () => ({ cwd: process.cwd(), word: process.env["INTEROP_WORD"] ?? "" })

/** Reports all steps, with a moment after each if there is `space`. */
export const report = async (space: boolean, send: (progress: number) => Promise<void>): Promise<void> => {
  for (const progress of steps) {
    await send(progress)
    if (space) await setTimeout(moment)
  }
}

/** The handler of `wait` for servers that cancel with a signal. */
export const waitFor = async (signal: AbortSignal): Promise<string> => {
  waiting.now++
  try {
    await setTimeout(60_000, undefined, { signal })
    return "waited"
  } finally {
    waiting.now--
    if (signal.aborted) waiting.cancelled++
  }
}
