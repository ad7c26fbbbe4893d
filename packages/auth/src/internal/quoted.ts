/** Values as messages and logs quote them: in one line, bounded, and without the parts of an address that may be secret. */
import { oneLine } from "./serverText.ts"

/** Characters of a value, and values of a list. */
const shown = 200
const listed = 4

const user = /^([a-z][a-z0-9+.-]*:)?([/\\]*)[^/?#\\]*@/i
const query = /\?[^#]*/

/** In quotes, so that an empty value can be seen, and so can a space at an end. */
export const quoted = (value: string): string =>
  JSON.stringify(oneLine(value.slice(0, shown).replace(user, "$1$2…@").replace(query, "?…")))

/** Several, of which the first are shown. */
export const quotedAll = (values: ReadonlyArray<string>): string => {
  if (values.length === 0) return "none"
  const first = values.slice(0, listed).map(quoted).join(", ")
  return values.length > listed ? `${first} and ${values.length - listed} more` : first
}
