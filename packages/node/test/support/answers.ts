/** Reads what a server wrote on one connection, answer by answer. */

export interface Answer {
  readonly status: number
  /** By their names in small letters, in the order of these. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: string
  /** Whether the body came to the end that its head tells. */
  readonly whole: boolean
}

const headOf = (text: string) => {
  const [first = "", ...lines] = text.split("\r\n")
  const headers = lines.map((line): readonly [string, string] => {
    const colon = line.indexOf(":")
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? -1), headers: headers.toSorted() }
}

/** The body in chunks at the start of a text, and what comes after it. */
const chunked = (text: string) => {
  let body = ""
  let rest = text
  while (true) {
    const size = /^([0-9a-f]+)\r\n/i.exec(rest)
    const length = Number.parseInt(size?.[1] ?? "", 16)
    if (size === null || rest.length < size[0].length + length + 2) return { body: body + rest, rest: "", whole: false }
    const end = size[0].length + length
    body += rest.slice(size[0].length, end)
    rest = rest.slice(end + 2)
    if (length === 0) return { body, rest, whole: true }
  }
}

const counted = (text: string, length: number) => ({
  body: text.slice(0, length),
  rest: text.slice(length),
  whole: text.length >= length
})

/** All answers of a connection that is over; `methods` are those of the requests that were sent. */
export const parse = (text: string, methods: ReadonlyArray<string>): ReadonlyArray<Answer> => {
  const answers: Array<Answer> = []
  let left = text
  let asked = 0
  while (left !== "") {
    const end = left.indexOf("\r\n\r\n")
    if (end < 0) return [...answers, { status: -1, headers: [], body: left, whole: false }]
    const { headers, status } = headOf(left.slice(0, end))
    const after = left.slice(end + 4)
    const header = (name: string) => headers.find(([other]) => other === name)?.[1]
    const interim = status >= 100 && status < 200
    const bare = interim || status === 204 || status === 304 || methods[asked] === "HEAD"
    const length = header("content-length")
    const { body, rest, whole } = bare
      ? counted(after, 0)
      : header("transfer-encoding") === "chunked"
      ? chunked(after)
      : counted(after, length === undefined ? after.length : Number(length))
    answers.push({ status, headers, body, whole })
    if (!interim) asked++
    left = rest
  }
  return answers
}
