/** Which of the two answer types a client takes. */
export interface Accepts {
  readonly json: boolean
  readonly stream: boolean
}

const both: Accepts = { json: true, stream: true }
const jsonOnly: Accepts = { json: true, stream: false }
const streamOnly: Accepts = { json: false, stream: true }
const neither: Accepts = { json: false, stream: false }

export const json = "application/json"
export const eventStream = "text/event-stream"

/** The type of a media type, without its parameters. */
export const essence = (contentType: string): string => {
  const semicolon = contentType.indexOf(";")
  return (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase()
}

export const isJson = (contentType: string | undefined): boolean =>
  contentType !== undefined && (contentType === json || essence(contentType) === json)

export const isEventStream = (contentType: string | undefined): boolean =>
  contentType !== undefined && (contentType === eventStream || essence(contentType) === eventStream)

const quality = (parameters: string): number => {
  for (const parameter of parameters.split(";")) {
    const [name, value] = parameter.split("=")
    if (name?.trim().toLowerCase() !== "q" || value === undefined) continue
    const q = Number(value.trim())
    return Number.isNaN(q) ? 1 : q
  }
  return 1
}

/** How closely `range` names `type`: 0 where it does not. */
const closeness = (range: string, type: string): number => {
  if (range === type) return 3
  if (range === "*/*" || range === "*") return 1
  return range.endsWith("/*") && type.startsWith(range.slice(0, -1)) ? 2 : 0
}

/** Whether the closest range that names `type` has a quality above 0 (RFC 9110, 12.5.1). */
const takes = (ranges: ReadonlyArray<readonly [range: string, q: number]>, type: string): boolean => {
  let closest = 0
  let accepted = false
  for (const [range, q] of ranges) {
    const close = closeness(range, type)
    if (close === 0 || close < closest) continue
    accepted = close === closest ? accepted || q > 0 : q > 0
    closest = close
  }
  return accepted
}

/** Reads an `Accept` header; without one a client takes anything (HTTP-06, HTTP-20). */
export const parseAccept = (header: string | undefined): Accepts => {
  if (header === undefined || header === "" || header === "application/json, text/event-stream") return both
  const ranges = header.split(",").map((part): readonly [string, number] => {
    const semicolon = part.indexOf(";")
    return semicolon < 0
      ? [part.trim().toLowerCase(), 1]
      : [part.slice(0, semicolon).trim().toLowerCase(), quality(part.slice(semicolon + 1))]
  })
  const stream = takes(ranges, eventStream)
  if (takes(ranges, json)) return stream ? both : jsonOnly
  return stream ? streamOnly : neither
}
