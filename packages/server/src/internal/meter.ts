/** How much may go out: a burst at once, then so much a second. */
export class Meter {
  private readonly burst: number
  private readonly perSecond: number
  private left: number
  private at: number | undefined = undefined

  constructor(burst: number, perSecond: number) {
    this.burst = burst
    this.perSecond = perSecond
    this.left = burst
  }

  /** Whether one more may go out at this moment, in milliseconds. */
  take(now: number): boolean {
    if (this.at !== undefined && now > this.at) {
      this.left = Math.min(this.burst, this.left + (now - this.at) / 1000 * this.perSecond)
    }
    this.at = now
    if (this.left < 1) return false
    this.left -= 1
    return true
  }
}
