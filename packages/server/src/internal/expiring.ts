/** A table whose entries have an end, and of which there are so many at most. */

interface Kept {
  readonly value: string
  readonly until: number
}

export class Expiring {
  private readonly table = new Map<string, Kept>()
  private readonly limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  get size(): number {
    return this.table.size
  }

  get(key: string, now: number): string | undefined {
    const kept = this.table.get(key)
    if (kept === undefined) return undefined
    if (kept.until > now) return kept.value
    this.table.delete(key)
    return undefined
  }

  set(key: string, value: string, until: number, now: number): void {
    // The newest stand last.
    this.table.delete(key)
    if (this.table.size >= this.limit) this.sweep(now)
    for (const oldest of this.table.keys()) {
      if (this.table.size < this.limit) break
      this.table.delete(oldest)
    }
    this.table.set(key, { value, until })
  }

  sweep(now: number): void {
    for (const [key, kept] of this.table) if (kept.until <= now) this.table.delete(key)
  }
}
