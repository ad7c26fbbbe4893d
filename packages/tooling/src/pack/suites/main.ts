/** Runs the suites on a run time that has a command line; the exit code is 0 when every case went well. */
import { lines, tryAll } from "./cases.ts"
import { fetchCases } from "./fetchCases.ts"
import { httpCases, makeHandler } from "./httpCases.ts"
import { listen } from "./listen.ts"
import { memoryCases } from "./memoryCases.ts"

const { dispose, handler, waits } = makeHandler("stateful")
const server = await listen(handler)
const ended = await tryAll([
  ...memoryCases(),
  ...httpCases(handler, "stateful"),
  ...fetchCases(`http://127.0.0.1:${server.port}/mcp`, waits)
])
await dispose()
await server.stop()
for (const line of lines(ended)) console.log(line)
const failed = ended.filter(({ failure }) => failure !== undefined).length
if (failed > 0) throw new Error(`${failed} of ${ended.length} cases failed`)
