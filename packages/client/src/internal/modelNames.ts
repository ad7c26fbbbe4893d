/** Names of tools as models take them. */

const allowed = /^[A-Za-z0-9_-]+$/
const suffixLength = 7

/** Six characters that depend on the text alone. */
const digest = (text: string): string => {
  let a = 0x811c9dc5
  let b = 0x01000193
  for (let index = 0; index < text.length; index++) {
    a = Math.imul(a ^ text.charCodeAt(index), 0x01000193) >>> 0
    b = Math.imul(b ^ text.charCodeAt(index), 0x85ebca6b) >>> 0
  }
  return (a.toString(36) + b.toString(36)).padStart(6, "0").slice(-6)
}

/**
 * A name for each of `names`, all different: what a model takes as it is stays as it is; the rest is changed, and gets a
 * suffix where it was too long or is somebody else's name already. The order of `names` changes nothing.
 */
export const modelNames = (
  names: ReadonlyArray<string>,
  prefix: string,
  maxLength: number
): ReadonlyMap<string, string> => {
  const taken = new Map<string, string>()
  const fits = (name: string): boolean => name.length <= maxLength && allowed.test(name)
  const distinct = [...new Set(names)].sort()
  for (const name of distinct) if (fits(prefix + name)) taken.set(prefix + name, name)
  for (const name of distinct) {
    if (taken.get(prefix + name) === name) continue
    const plain = (prefix + name).replace(/[^A-Za-z0-9_-]/g, "_")
    const suffixed = (salt: string) => `${plain.slice(0, maxLength - suffixLength)}_${digest(name + salt)}`
    let candidate = fits(plain) ? plain : suffixed("")
    for (let salt = 0; taken.has(candidate); salt++) candidate = suffixed(salt === 0 ? "" : String(salt))
    taken.set(candidate, name)
  }
  return new Map([...taken].map(([given, name]) => [name, given]))
}
