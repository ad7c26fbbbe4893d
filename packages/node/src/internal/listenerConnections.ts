/** The connections of a server, and which of them have a request on them. */
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as Tls from "node:tls"
import type { Server } from "./listenerBounds.ts"

/**
 * Node takes an answer for gone as soon as its last byte is written into the socket, and ends its connection with the server
 * although the client has not read it. So it is kept here which answer was the last of a connection.
 */
export class Connections {
  private readonly latest = new Map<Socket, ServerResponse | undefined>()
  /** What is under the connections of TLS, and may not have become one. */
  private readonly bare = new Set<Socket>()
  private ending = false

  constructor(server: Server) {
    const isSecure = server instanceof Tls.Server
    server.on(isSecure ? "secureConnection" : "connection", (socket: Socket) => {
      this.latest.set(socket, undefined)
      socket.once("close", () => this.latest.delete(socket))
    })
    if (!isSecure) return
    server.on("connection", (socket: Socket) => {
      this.bare.add(socket)
      socket.once("close", () => this.bare.delete(socket))
    })
  }

  /** There is a request on that connection. */
  asked(socket: Socket, response: ServerResponse): void {
    if (this.latest.has(socket)) this.latest.set(socket, response)
    if (this.ending) this.endAfter(socket, response)
  }

  /** Ends connections as soon as there is no request on them, which those are at once that wait for one. */
  end(): void {
    this.ending = true
    for (const [socket, response] of Array.from(this.latest)) {
      if (response === undefined || response.closed) socket.destroy()
      else this.endAfter(socket, response)
    }
    for (const socket of Array.from(this.bare)) {
      if (socket.bytesRead === 0) socket.destroy()
    }
  }

  /** Cuts whatever is left. */
  destroy(): void {
    for (const socket of [...this.latest.keys(), ...this.bare]) socket.destroy()
  }

  private endAfter(socket: Socket, response: ServerResponse): void {
    response.once("close", () => {
      if (this.latest.get(socket) === response) socket.destroySoon()
    })
  }
}
