/** Lengths of time as people say them. */

const units = [["hour", 3600], ["minute", 60], ["second", 1]] as const

/** Such as `10 minutes` or `1 minute 30 seconds`; to the second where there is one. */
export const spokenTime = (millis: number): string => {
  if (millis < 1000) return `${Math.round(millis)} milliseconds`
  let left = Math.round(millis / 1000)
  const parts: Array<string> = []
  for (const [name, length] of units) {
    const count = Math.floor(left / length)
    left -= count * length
    if (count > 0) parts.push(`${count} ${name}${count === 1 ? "" : "s"}`)
  }
  return parts.join(" ")
}
