import type { Row } from "../row.ts"
import { askRows } from "./asks.ts"
import { bodyRows } from "./bodies.ts"
import { clientRows } from "./client.ts"
import { httpRows } from "./http.ts"
import { listenerRows } from "./listeners.ts"
import { memoryRows } from "./memory.ts"
import { middlewareRows } from "./middleware.ts"
import { sleepingRows } from "./sleeping.ts"
import { startRows } from "./start.ts"
import { stdioRows } from "./stdio.ts"

/** Everything that is measured, in the order of the table. */
export const rows: ReadonlyArray<Row> = [
  ...stdioRows,
  ...httpRows,
  ...bodyRows,
  ...askRows,
  ...listenerRows,
  ...middlewareRows,
  ...sleepingRows,
  ...clientRows,
  ...memoryRows,
  ...startRows
]
