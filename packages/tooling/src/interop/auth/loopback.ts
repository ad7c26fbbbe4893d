/** A server of this process on a free port of the loopback interface. */
import { createServer, type RequestListener } from "node:http"

/** What listens, and how it ends. */
export interface Listening {
  /** Without a slash at its end. */
  readonly origin: string
  readonly close: () => Promise<void>
}

/** The listener is made when the address is known, which servers write into their documents. */
export const listen = (make: (origin: string) => RequestListener): Promise<Listening> =>
  new Promise((resolve, reject) => {
    let handle: RequestListener | undefined
    const server = createServer((request, response) => void handle?.(request, response))
    server.on("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const origin = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
      handle = make(origin)
      resolve({
        origin,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed())
            server.closeAllConnections()
          })
      })
    })
  })
