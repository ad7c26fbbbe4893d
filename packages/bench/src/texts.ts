/** The texts that are sent and read: what they are made of looks like prose in a program, and has no letter twice as wide. */

const line = "He said \"yes\", and went on: the archive keeps what was written, line after line, in files of its own.\n"

/** A text of exactly that many characters. */
export const textOf = (length: number): string => line.repeat(Math.ceil(length / line.length)).slice(0, length)

const KiB = 1024

/** The resource that is read, and announced. */
export const resource = {
  uri: "bench://text",
  name: "text",
  mimeType: "text/plain",
  text: textOf(64 * KiB)
} as const

/** The argument of the largest call. */
export const longText: string = textOf(KiB * KiB)

/** What the tool `ask` asks for. */
export const question = {
  message: "What is your name?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
} as const

/** How `ask` greets. */
export const hello = (name: unknown): string => `Hello, ${String(name)}.`
