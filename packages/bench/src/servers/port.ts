import type { Server } from "node:http"
import { listening, start } from "../tools.ts"

/** Listens where the start says, and tells whoever started this. */
export const serveOn = (server: Server): void => {
  server.listen(start.port, "127.0.0.1", () => {
    const address = server.address()
    if (typeof address === "object" && address !== null) listening(address.port)
  })
}
