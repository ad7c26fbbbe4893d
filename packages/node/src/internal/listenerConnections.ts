/** The connections of a server, and which of them have a request on them. */
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as Tls from "node:tls"
import type { Server } from "./listenerBounds.ts"

/** Has a set or map forget sockets as they close: one listener for all of them, since an idle connection is little else. */
const forgettingIn = (open: { delete(socket: Socket): boolean }) =>
  function(this: Socket): void {
    open.delete(this)
  }

/**
 * Node takes an answer for gone as soon as its last byte is written into the socket, and ends its connection with the server
 * although the client has not read it. So it is kept here which answer was the last of a connection.
 */
export class Connections {
  /** The last answer on each, whether it is over or not. */
  private readonly open = new Map<Socket, ServerResponse | undefined>()
  /** What is under the connections of TLS, and may not have become one. */
  private readonly bare = new Set<Socket>()
  private ending = false

  constructor(server: Server) {
    const isSecure = server instanceof Tls.Server
    const forget = forgettingIn(this.open)
    server.on(isSecure ? "secureConnection" : "connection", (socket: Socket) => {
      // Of TLS it may have come before the end, and is there only now.
      if (this.ending) return socket.destroy()
      this.open.set(socket, undefined)
      socket.on("close", forget)
    })
    if (!isSecure) return
    const forgetBare = forgettingIn(this.bare)
    server.on("connection", (socket: Socket) => {
      this.bare.add(socket)
      socket.on("close", forgetBare)
    })
  }

  /** Places that are taken, for a look at what is left behind. */
  get size(): number {
    return this.open.size + this.bare.size
  }

  /** There is a request on that connection. */
  asked(socket: Socket, response: ServerResponse): void {
    if (!this.open.has(socket)) return
    this.open.set(socket, response)
    if (this.ending) this.endAfter(socket, response)
  }

  /** Ends connections as soon as there is no request on them, which those are at once that wait for one. */
  end(): void {
    this.ending = true
    for (const [socket, latest] of Array.from(this.open)) {
      if (latest === undefined || latest.closed) socket.destroy()
      else this.endAfter(socket, latest)
    }
    for (const socket of Array.from(this.bare)) {
      if (socket.bytesRead === 0) socket.destroy()
    }
  }

  /** Cuts whatever is left. */
  destroy(): void {
    for (const socket of [...this.open.keys(), ...this.bare]) socket.destroy()
  }

  private endAfter(socket: Socket, response: ServerResponse): void {
    response.once("close", () => {
      if (this.open.get(socket) === response) socket.destroySoon()
    })
  }
}
