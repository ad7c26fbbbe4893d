/** The suites inside workerd: `/suites` runs them, `/mcp` is the server that their client reaches by fetch. */
import { lines, tryAll } from "./cases.ts"
import { fetchCases } from "./fetchCases.ts"
import { httpCases, makeHandler } from "./httpCases.ts"
import { memoryCases } from "./memoryCases.ts"

// One instance of many: the next request may reach another one, so no sessions are kept.
const served = makeHandler("stateless")

const runSuites = async (origin: string): Promise<Response> => {
  const own = makeHandler("stateless")
  const ended = await tryAll([
    ...memoryCases(),
    ...httpCases(own.handler, "stateless"),
    ...fetchCases(`${origin}/mcp`)
  ])
  const failed = ended.some(({ failure }) => failure !== undefined)
  return new Response(`${lines(ended).join("\n")}\n`, { status: failed ? 500 : 200 })
}

// oxlint-disable-next-line import/no-default-export -- the platform asks for one
export default {
  fetch: (request: Request): Promise<Response> => {
    const { origin, pathname } = new URL(request.url)
    return pathname === "/suites" ? runSuites(origin) : served.handler(request)
  }
}
