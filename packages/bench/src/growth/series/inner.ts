import type { Series } from "../series.ts"
import { listenerSeries } from "./listeners.ts"
import { middlewareSeries } from "./middleware.ts"
import { sessionSeries } from "./sessions.ts"
import { toolSeries } from "./tools.ts"

/** What is measured within one process, without a transport. */
export const inner: ReadonlyArray<Series> = [...toolSeries, ...sessionSeries, ...listenerSeries, ...middlewareSeries]
