/** A server of Effect on a free port of the loopback interface, for tests and the programs that they start. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Server } from "node:http"
import type { Socket } from "node:net"

/**
 * A Node server whose end does not wait for connections on which nothing was said. `fetch` leaves one behind each stream that
 * it breaks off, and keeps it for seconds.
 */
class PromptServer extends Server {
  private readonly open = new Set<Socket>()

  constructor() {
    super()
    this.on("connection", (connection) => {
      this.open.add(connection)
      connection.once("close", () => this.open.delete(connection))
    })
  }

  override close(done?: (error?: Error) => void): this {
    super.close(done)
    for (const connection of this.open) if (connection.bytesRead === 0) connection.destroy()
    return this
  }
}

/** Each call is another server, also within one graph of layers. */
export const layer = () => NodeHttpServer.layer(() => new PromptServer(), { port: 0, host: "127.0.0.1" })
