/** A client under load: it calls the floor's server. */
import { failed, portOf, startProgram, startServer, told } from "../child.ts"
import { clientFile, type Contender, serverFile } from "../contenders.ts"
import { fewest, ofChild, type Subject } from "../subject.ts"

export interface ClientOptions {
  readonly transport: "stdio" | "http"
  /** Calls in flight. */
  readonly window: number
}

export const clientSubject = async (contender: Contender, { transport, window }: ClientOptions): Promise<Subject> => {
  const server = transport === "http" ? startServer("floor", { transport }) : undefined
  const target = server === undefined ? serverFile("floor") : `http://127.0.0.1:${await portOf(server)}/mcp`
  const child = startProgram(clientFile(contender), [transport, target, String(window)])
  const stop = async () => {
    await child.stop()
    await server?.stop()
  }
  let next = 1
  // Clients read every answer; there is nothing more to look at.
  const call = async (count: number) => {
    const done = told(child, "done")
    child.process.send({ first: next, count })
    next += count
    const failure = await done
    if (failure !== true) throw new Error(String(failure))
    return { units: count, latencies: [] }
  }
  try {
    await told(child, "ready")
    return { ...ofChild(child), least: fewest, run: call, verify: async (count) => void await call(count), stop }
  } catch (error) {
    await stop()
    throw failed(child, error)
  }
}
