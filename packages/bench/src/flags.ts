/** What a command line asks for. What cannot be measured is refused before anything is, with what can be. */
import { parseArgs, type ParseArgsOptionsConfig } from "node:util"

/** Why a command line is refused. */
export class Refused extends Error {}

/** The flags that were given. One that is not there is refused, as is one without its value, or a word that is none. */
export const flagsOf = <const O extends ParseArgsOptionsConfig>(options: O, args = process.argv.slice(2)) => {
  try {
    return parseArgs({ options, args }).values
  } catch (error) {
    const known = Object.entries(options).map(([name, { type }]) => `--${name}${type === "string" ? " <value>" : ""}`)
    const why = error instanceof Error ? error.message : String(error)
    throw new Refused(known.length === 0 ? why : `${why}\nThere are: ${known.join(", ")}`)
  }
}

/** A whole number of 1 or more. */
export const countOf = (flag: string, text: string): number => {
  const count = Number(text)
  if (/^[0-9]+$/.test(text) && count >= 1 && Number.isSafeInteger(count)) return count
  throw new Refused(`--${flag} takes a whole number of 1 or more, not "${text}"`)
}

/** A number above 0. */
export const amountOf = (flag: string, text: string): number => {
  const amount = Number(text)
  if (amount > 0 && Number.isFinite(amount)) return amount
  throw new Refused(`--${flag} takes a number above 0, not "${text}"`)
}

const namesIn = (text: string): ReadonlyArray<string> => text.split(",").map((name) => name.trim())

/** The names of a list, each of which has to be known. */
export const namesOf = (flag: string, text: string, known: ReadonlyArray<string>): ReadonlyArray<string> => {
  const names = namesIn(text)
  for (const name of names) {
    if (!known.includes(name)) {
      throw new Refused(`--${flag} takes names with commas between them, not "${name}"\nThere are: ${known.join(", ")}`)
    }
  }
  return names
}

/** The ids that start with one of a list, in their own order; each of the list has to be the start of one. */
export const idsOf = (flag: string, text: string, known: ReadonlyArray<string>): ReadonlyArray<string> => {
  const starts = namesIn(text)
  for (const start of starts) {
    if (start === "" || !known.some((id) => id.startsWith(start))) {
      throw new Refused(
        `--${flag} takes ids or what they start with, with commas between them, not "${start}"\n` +
          `There are: ${known.join(", ")}`
      )
    }
  }
  return known.filter((id) => starts.some((start) => id.startsWith(start)))
}

/** Those that a flag asks for by their ids; all of them without it. */
export const chosenOf = <A extends { readonly id: string }>(
  flag: string,
  text: string | undefined,
  all: ReadonlyArray<A>
): ReadonlyArray<A> => {
  if (text === undefined) return all
  const ids = idsOf(flag, text, all.map(({ id }) => id))
  return all.filter(({ id }) => ids.includes(id))
}

/** What is read of a command line; where that is refused the process says why and ends with code 2. */
export const asked = <A>(read: () => A): A => {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    console.error(error.message)
    process.exit(2)
  }
}
