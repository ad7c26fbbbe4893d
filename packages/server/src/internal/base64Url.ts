/** Base64url without padding, for some hundred bytes: each text and its bytes belong to each other alone. */
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
const codes = Uint8Array.from(alphabet, (one) => one.charCodeAt(0))
const decoder = new TextDecoder()

/** More than six bits: what stands for no character of the alphabet. */
const none = 64
const values = new Uint8Array(128).fill(none)
codes.forEach((code, value) => {
  values[code] = value
})

export const encode = (bytes: Uint8Array): string => {
  const text = new Uint8Array(Math.ceil(bytes.length * 4 / 3))
  let to = 0
  for (let from = 0; from < bytes.length; from += 3) {
    // Beyond the end there is nothing: its bits count as zero, and its characters are not kept.
    const word = (bytes[from] ?? 0) << 16 | (bytes[from + 1] ?? 0) << 8 | (bytes[from + 2] ?? 0)
    text[to++] = codes[word >> 18] ?? 0
    text[to++] = codes[word >> 12 & 63] ?? 0
    text[to++] = codes[word >> 6 & 63] ?? 0
    text[to++] = codes[word & 63] ?? 0
  }
  return decoder.decode(text)
}

/** The bytes of a text; `undefined` for every text that `encode` does not give. */
export const decode = (text: string): Uint8Array | undefined => {
  const rest = text.length % 4
  if (rest === 1) return undefined
  const bytes = new Uint8Array(text.length * 3 >> 2)
  const whole = text.length - rest
  let seen = 0
  let to = 0
  for (let from = 0; from < whole; from += 4) {
    const a = valueAt(text, from)
    const b = valueAt(text, from + 1)
    const c = valueAt(text, from + 2)
    const d = valueAt(text, from + 3)
    seen |= a | b | c | d
    const word = a << 18 | b << 12 | c << 6 | d
    bytes[to++] = word >> 16
    bytes[to++] = word >> 8
    bytes[to++] = word
  }
  if (rest === 0) return seen < none ? bytes : undefined
  const a = valueAt(text, whole)
  const b = valueAt(text, whole + 1)
  const c = rest === 3 ? valueAt(text, whole + 2) : 0
  seen |= a | b | c
  const word = a << 18 | b << 12 | c << 6
  bytes[to++] = word >> 16
  if (rest === 3) bytes[to++] = word >> 8
  // Bits that are part of no byte are zero.
  const left = rest === 3 ? word & 0xff : word & 0xffff
  return seen < none && left === 0 ? bytes : undefined
}

const valueAt = (text: string, at: number): number => values[text.charCodeAt(at)] ?? none
