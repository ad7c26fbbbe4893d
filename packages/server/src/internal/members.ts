/** Questions that one fiber waits for together, each in a fiber of its own. */
import type * as Fiber from "effect/Fiber"
import type { Group } from "./interaction.ts"

type AnyFiber = Fiber.Fiber<unknown, unknown>

export class Members implements Group {
  readonly fibers: Array<AnyFiber> = []
  private readonly size: number
  private readonly outer: Group | undefined
  private readonly ended: () => void
  private readonly onClose: () => void
  private failed = false

  constructor(size: number, outer: Group | undefined, ended: () => void, onClose: () => void) {
    this.size = size
    this.outer = outer
    this.ended = ended
    this.onClose = onClose
  }

  get isComplete(): boolean {
    return this.fibers.length === this.size
  }

  get isGivenUp(): boolean {
    return this.failed || this.outer?.isGivenUp === true
  }

  join(fiber: AnyFiber): void {
    this.fibers.push(fiber)
    fiber.addObserver(this.ended)
  }

  fail(): void {
    this.failed = true
  }

  close(): void {
    this.onClose()
  }
}
