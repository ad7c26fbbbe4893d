/**
 * Matches a pattern by following all its ways through a text at once. It is slower than the engine on what is harmless, and
 * never slower than the length of the text times the size of the pattern, so it takes the patterns the engine must not get.
 */
import type { Pattern } from "./patternParse.ts"

type State =
  | { readonly _tag: "Char"; readonly test: (char: string) => boolean; readonly next: number }
  | { readonly _tag: "Split"; readonly left: number; readonly right: number }
  | {
    readonly _tag: "Assert"
    readonly holds: (text: ReadonlyArray<string>, at: number) => boolean
    readonly next: number
  }
  | { readonly _tag: "Match" }

const isWordChar = (char: string | undefined): boolean => char !== undefined && /^\w$/u.test(char)

const isBoundary = (text: ReadonlyArray<string>, at: number): boolean =>
  isWordChar(text[at - 1]) !== isWordChar(text[at])

const edges: Readonly<Record<"end" | "boundary" | "inside", (text: ReadonlyArray<string>, at: number) => boolean>> = {
  end: (text, at) => at === text.length,
  boundary: isBoundary,
  inside: (text, at) => !isBoundary(text, at)
}

/** How many states a pattern needs, with its counted repeats written out; none for a look-around, which this cannot do. */
export const nfaSize = (pattern: Pattern): number => {
  switch (pattern._tag) {
    case "Look":
      return Infinity
    case "Sequence":
      return pattern.items.reduce((sum, item) => sum + nfaSize(item), 0)
    case "Choice":
      return pattern.options.reduce((sum, option) => sum + nfaSize(option) + 1, 0)
    case "Repeat":
      return (nfaSize(pattern.body) + 1) * Math.max(1, Number.isFinite(pattern.max) ? pattern.max : pattern.min + 1)
    default:
      return 1
  }
}

/** Builds from the end: each part is given the state that follows it and gives the state it begins with. */
const build = (states: Array<State>, pattern: Pattern, next: number): number => {
  const add = (state: State): number => states.push(state) - 1
  switch (pattern._tag) {
    case "Chars": {
      const regExp = new RegExp(`^${pattern.source}$`, "u")
      return add({ _tag: "Char", test: (char) => regExp.test(char), next })
    }
    case "Start":
      return add({ _tag: "Assert", holds: (_text, at) => at === 0, next })
    case "Edge":
      return add({ _tag: "Assert", holds: edges[pattern.edge], next })
    case "Look":
      return next
    case "Sequence":
      return pattern.items.reduceRight((after, item) => build(states, item, after), next)
    case "Choice":
      return pattern.options.map((option) => build(states, option, next)).reduce((left, right) =>
        add({ _tag: "Split", left, right })
      )
    case "Repeat": {
      let out = next
      if (pattern.max === Infinity) {
        const loop = add({ _tag: "Match" })
        states[loop] = { _tag: "Split", left: build(states, pattern.body, loop), right: next }
        out = loop
      } else {
        for (let times = pattern.max; times > pattern.min; times--) {
          out = add({ _tag: "Split", left: build(states, pattern.body, out), right: next })
        }
      }
      for (let times = 0; times < pattern.min; times++) out = build(states, pattern.body, out)
      return out
    }
  }
}

/** A test of texts by a pattern without look-arounds. */
export const makeNfa = (pattern: Pattern): (text: string) => boolean => {
  const states: Array<State> = [{ _tag: "Match" }]
  const start = build(states, pattern, 0)
  return (input) => {
    const text = Array.from(input)
    // the step at which a state was last entered, so that each is entered once a step
    const entered = new Int32Array(states.length).fill(-1)
    let current: Array<number> = []
    for (let at = 0; at <= text.length; at++) {
      const open = [...current, start]
      const waiting: Array<Extract<State, { readonly _tag: "Char" }>> = []
      for (let index = open.pop(); index !== undefined; index = open.pop()) {
        if (entered[index] === at) continue
        entered[index] = at
        const state = states[index]
        if (state === undefined) continue
        if (state._tag === "Match") return true
        if (state._tag === "Split") open.push(state.left, state.right)
        else if (state._tag === "Char") waiting.push(state)
        else if (state.holds(text, at)) open.push(state.next)
      }
      const char = text[at]
      if (char === undefined) return false
      current = waiting.flatMap((state) => state.test(char) ? [state.next] : [])
    }
    return false
  }
}
