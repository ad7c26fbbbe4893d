/** The process in which a series is measured that needs none of another; tells what it saw over the channel. */
import { measure } from "./series.ts"
import { inner } from "./series/inner.ts"

const series = inner.find(({ id }) => id === process.argv[2])
if (series === undefined) throw new Error(`no series ${process.argv[2]}`)
const seen = await measure(series)
process.send?.(seen, () => process.exit(0))
