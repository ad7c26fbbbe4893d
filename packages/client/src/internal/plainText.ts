/** Text from elsewhere, as it may be shown on a terminal: it moves no cursor, changes no colour and turns no line round. */

/** All control characters but the end of a line. */
const controls = /[^\P{Cc}\n]/gu
const direction = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** At most so many characters of one text are shown. */
const longest = 4000

export const plain = (text: string): string => {
  const clean = text.replace(/\r\n?/g, "\n").replace(controls, " ").replace(direction, "")
  return clean.length <= longest ? clean : `${clean.slice(0, longest)}…`
}

/** The same in one line. */
export const line = (text: string): string => plain(text).replace(/\s+/g, " ").trim()
