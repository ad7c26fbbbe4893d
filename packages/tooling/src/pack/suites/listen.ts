/** Serves a web handler on a free port of the loopback interface, with what the run time has for it. */
import { createServer } from "node:http"
import type { Handler } from "./httpCases.ts"

/** A server that listens. */
export interface Listening {
  readonly port: number
  readonly stop: () => Promise<void>
}

interface BunServer {
  readonly port: number
  readonly stop: (now: boolean) => Promise<void>
}

interface Bun {
  readonly serve: (
    options: { readonly hostname: string; readonly port: number; readonly fetch: Handler }
  ) => BunServer
}

interface DenoServer {
  readonly addr: { readonly port: number }
  readonly shutdown: () => Promise<void>
}

interface Deno {
  readonly serve: (
    options: { readonly hostname: string; readonly port: number; readonly onListen: () => void },
    handler: Handler
  ) => DenoServer
}

declare global {
  var Bun: Bun | undefined
  var Deno: Deno | undefined
}

const onNode = (handler: Handler): Promise<Listening> =>
  new Promise((settle) => {
    const server = createServer((incoming, outgoing) => {
      const left = new AbortController()
      outgoing.on("close", () => left.abort())
      const chunks: Array<Buffer> = []
      const answer = async () => {
        const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)])
        const method = incoming.method ?? "GET"
        const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
          method,
          headers,
          signal: left.signal,
          ...(method === "POST" ? { body: Buffer.concat(chunks) } : {})
        })
        const response = await handler(request)
        outgoing.writeHead(response.status, [...response.headers])
        outgoing.flushHeaders()
        for await (const chunk of response.body ?? []) outgoing.write(chunk)
        outgoing.end()
      }
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
      incoming.on("end", () => void answer().catch(() => outgoing.destroy()))
    })
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      settle({
        port: typeof address === "object" && address !== null ? address.port : 0,
        stop: () =>
          new Promise((stopped) => {
            server.close(() => stopped())
            server.closeAllConnections()
          })
      })
    })
  })

/** Resolves when it listens. */
export const listen = async (handler: Handler): Promise<Listening> => {
  const place = { hostname: "127.0.0.1", port: 0 }
  if (globalThis.Bun !== undefined) {
    const server = globalThis.Bun.serve({ ...place, fetch: handler })
    return { port: server.port, stop: () => server.stop(true) }
  }
  if (globalThis.Deno !== undefined) {
    const server = globalThis.Deno.serve({ ...place, onListen: () => {} }, handler)
    return { port: server.addr.port, stop: () => server.shutdown() }
  }
  return onNode(handler)
}
