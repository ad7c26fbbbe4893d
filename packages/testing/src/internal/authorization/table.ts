/** A table with an end: past its bound the oldest entry goes. */
export class Table<V> {
  readonly #entries = new Map<string, V>()
  readonly #max: number

  constructor(max = 10_000) {
    this.#max = max
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)
  }

  has(key: string): boolean {
    return this.#entries.has(key)
  }

  set(key: string, value: V): void {
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#max) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }

  delete(key: string): boolean {
    return this.#entries.delete(key)
  }

  values(): Iterable<V> {
    return this.#entries.values()
  }
}
