/** Counts the fibers that live, of all that inherit it. */
import type { Metric } from "effect"

export class Fibers implements Metric.FiberRuntimeMetricsService {
  alive = 0
  readonly recordFiberStart = (): void => {
    this.alive++
  }
  readonly recordFiberEnd = (): void => {
    this.alive--
  }
}
