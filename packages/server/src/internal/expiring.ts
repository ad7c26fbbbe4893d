/** A table whose entries have an end, and which is bounded in their number and in the characters of all of them. */

interface Kept {
  readonly value: string
  readonly until: number
}

export class Expiring {
  private readonly table = new Map<string, Kept>()
  private readonly limit: number
  private readonly maxLength: number
  private length = 0

  constructor(limit: number, maxLength = Number.POSITIVE_INFINITY) {
    this.limit = limit
    this.maxLength = maxLength
  }

  get size(): number {
    return this.table.size
  }

  get(key: string, now: number): string | undefined {
    const kept = this.table.get(key)
    if (kept === undefined) return undefined
    if (kept.until > now) return kept.value
    this.delete(key)
    return undefined
  }

  set(key: string, value: string, until: number, now: number): void {
    // The newest stand last.
    this.delete(key)
    if (!this.hasRoom(value)) this.sweep(now)
    for (const oldest of this.table.keys()) {
      if (this.hasRoom(value)) break
      this.delete(oldest)
    }
    this.table.set(key, { value, until })
    this.length += value.length
  }

  sweep(now: number): void {
    for (const [key, kept] of this.table) if (kept.until <= now) this.delete(key)
  }

  private hasRoom(value: string): boolean {
    return this.table.size < this.limit && this.length + value.length <= this.maxLength
  }

  private delete(key: string): void {
    this.length -= this.table.get(key)?.value.length ?? 0
    this.table.delete(key)
  }
}
