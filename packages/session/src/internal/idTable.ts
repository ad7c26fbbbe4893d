/**
 * A map for ids that come and go quickly, most of them integers.
 *
 * A `Map` under steady insertion and removal builds a new backing table every few dozen operations, and each old one still
 * points to the next. Once one of them is promoted by the garbage collector, everything that was ever in flight stays
 * alive until the next full collection, which costs more than serving the requests. Integers are kept in chained buckets
 * here, which are only rebuilt to grow; other keys, which are rarer, are left to a `Map`.
 */

class Row<V> {
  readonly key: unknown
  readonly value: V
  readonly order: number
  chained: Row<V> | undefined = undefined

  constructor(key: unknown, value: V, order: number) {
    this.key = key
    this.value = value
    this.order = order
  }
}

const least = 16

export class IdTable<V> {
  private buckets: Array<Row<V> | undefined> | undefined = undefined
  private others: Map<unknown, Row<V>> | undefined = undefined
  private integers = 0
  private order = 0

  get size(): number {
    return this.integers + (this.others === undefined ? 0 : this.others.size)
  }

  get(key: unknown): V | undefined {
    return this.row(key)?.value
  }

  has(key: unknown): boolean {
    return this.row(key) !== undefined
  }

  /** Puts a value in under a key that is not there yet. */
  add(key: unknown, value: V): void {
    this.order += 1
    const row = new Row(key, value, this.order)
    if (!isInteger(key)) {
      this.others ??= new Map()
      this.others.set(key, row)
      return
    }
    this.buckets ??= empty<V>(least)
    if (this.integers >= this.buckets.length) this.grow(this.buckets)
    this.integers += 1
    put(this.buckets, key, row)
  }

  /** Takes a value out. */
  take(key: unknown): V | undefined {
    if (!isInteger(key)) {
      const row = this.others?.get(key)
      if (row !== undefined) this.others?.delete(key)
      return row?.value
    }
    if (this.buckets === undefined) return undefined
    const index = key & (this.buckets.length - 1)
    let before: Row<V> | undefined = undefined
    let row = this.buckets[index]
    while (row !== undefined && row.key !== key) {
      before = row
      row = row.chained
    }
    if (row === undefined) return undefined
    if (before === undefined) this.buckets[index] = row.chained
    else before.chained = row.chained
    row.chained = undefined
    this.integers -= 1
    return row.value
  }

  /** What is in it, oldest first. */
  values(): Array<V> {
    return this.rows().sort((a, b) => a.order - b.order).map((row) => row.value)
  }

  clear(): void {
    this.buckets = undefined
    this.others = undefined
    this.integers = 0
  }

  private row(key: unknown): Row<V> | undefined {
    if (!isInteger(key)) return this.others?.get(key)
    if (this.buckets === undefined) return undefined
    let row = this.buckets[key & (this.buckets.length - 1)]
    while (row !== undefined && row.key !== key) row = row.chained
    return row
  }

  private rows(): Array<Row<V>> {
    const all = this.others === undefined ? [] : Array.from(this.others.values())
    for (const head of this.buckets ?? []) {
      for (let row = head; row !== undefined; row = row.chained) all.push(row)
    }
    return all
  }

  private grow(full: ReadonlyArray<Row<V> | undefined>): void {
    const buckets = empty<V>(full.length * 2)
    for (const head of full) {
      let row = head
      while (row !== undefined) {
        const next: Row<V> | undefined = row.chained
        put(buckets, Number(row.key), row)
        row = next
      }
    }
    this.buckets = buckets
  }
}

const empty = <V>(length: number): Array<Row<V> | undefined> => Array.from({ length }, () => undefined)

const isInteger = (key: unknown): key is number => typeof key === "number" && Number.isSafeInteger(key)

const put = <V>(buckets: Array<Row<V> | undefined>, key: number, row: Row<V>): void => {
  const index = key & (buckets.length - 1)
  row.chained = buckets[index]
  buckets[index] = row
}
