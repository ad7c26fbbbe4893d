/** A table of what is good for a while, bounded in number: the oldest make room. */

interface Kept<A> {
  readonly value: A
  readonly until: number
}

export class Remembered<A> {
  private readonly table = new Map<string, Kept<A>>()
  private readonly limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  get size(): number {
    return this.table.size
  }

  get(key: string, now: number): A | undefined {
    const kept = this.table.get(key)
    if (kept === undefined) return undefined
    if (kept.until > now) return kept.value
    this.table.delete(key)
    return undefined
  }

  set(key: string, value: A, until: number, now: number): void {
    this.table.delete(key)
    if (until <= now || this.limit <= 0) return
    // The oldest stand first, and are those that end first.
    for (const [oldest, kept] of this.table) {
      if (this.table.size < this.limit && kept.until > now) break
      this.table.delete(oldest)
    }
    this.table.set(key, { value, until })
  }
}
