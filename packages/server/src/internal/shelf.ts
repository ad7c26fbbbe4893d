/** The entries of one kind: what is offered under each name, and the sorted list of it, made when it is asked for. */

/** Where one entry stands; the topmost of its name is offered. */
interface Slot<E> {
  readonly entry: E
}

/** A list and its index, as they were at one moment. */
export interface View<E> {
  readonly list: ReadonlyArray<E>
  readonly get: (name: string) => E | undefined
}

/** Plain order of code units: the same on every machine, in every locale (SCH-24 of field practice). */
export const byName = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0

export class Shelf<E> {
  readonly #nameOf: (entry: E) => string
  readonly #stacks = new Map<string, Array<Slot<E>>>()
  #view: View<E> | undefined

  constructor(nameOf: (entry: E) => string) {
    this.#nameOf = nameOf
  }

  has(name: string): boolean {
    return this.#stacks.has(name)
  }

  /** Puts an entry on top of what has its name; the function takes this one away again, wherever it stands by then. */
  add(entry: E): () => void {
    const name = this.#nameOf(entry)
    const slot: Slot<E> = { entry }
    const stack = this.#stacks.get(name)
    if (stack === undefined) this.#stacks.set(name, [slot])
    else stack.push(slot)
    this.#view = undefined
    return () => this.#remove(name, slot)
  }

  #remove(name: string, slot: Slot<E>): void {
    const stack = this.#stacks.get(name)
    const at = stack?.indexOf(slot) ?? -1
    if (stack === undefined || at < 0) return
    stack.splice(at, 1)
    if (stack.length === 0) this.#stacks.delete(name)
    this.#view = undefined
  }

  /** Sorting waits until somebody looks: ten thousand registrations in a row are sorted once. */
  view(): View<E> {
    return this.#view ??= this.#look()
  }

  #look(): View<E> {
    const index = new Map<string, E>()
    for (const name of Array.from(this.#stacks.keys()).sort(byName)) {
      const top = this.#stacks.get(name)?.at(-1)
      if (top !== undefined) index.set(name, top.entry)
    }
    return { list: Array.from(index.values()), get: (name) => index.get(name) }
  }
}
