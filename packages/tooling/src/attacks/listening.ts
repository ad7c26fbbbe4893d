/** A server of Node on a free port of the loopback interface, as long as the scope lives. */
import { Effect, type Scope } from "effect"
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http"

export interface Listening {
  readonly origin: string
  /** What was asked, the oldest first. */
  readonly asked: Array<Pick<IncomingMessage, "headers" | "method" | "url">>
  /** Connections that are open. */
  readonly connections: () => Promise<number>
}

const opened = (server: Server): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<string>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(`http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`))
      })
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )

export const listening = (
  answer: (origin: string) => RequestListener
): Effect.Effect<Listening, never, Scope.Scope> =>
  Effect.gen(function*() {
    const asked: Listening["asked"] = []
    let listener: RequestListener = (_, response) => response.writeHead(503).end()
    const server = createServer((request, response) => {
      asked.push({ headers: request.headers, method: request.method, url: request.url })
      listener(request, response)
    })
    const origin = yield* opened(server)
    listener = answer(origin)
    const connections = () =>
      new Promise<number>((resolve, reject) =>
        server.getConnections((error, count) => error === null ? resolve(count) : reject(error))
      )
    return { origin, asked, connections }
  })
