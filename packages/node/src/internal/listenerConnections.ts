/** The connections of a server, and which of them have a request on them. */
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as Tls from "node:tls"
import type { Server } from "./listenerBounds.ts"

interface Connection {
  /** The last of its answers, whether it is over or not. */
  latest: ServerResponse | undefined
}

const endAfter = (socket: Socket, connection: Connection, response: ServerResponse): void => {
  response.once("close", () => {
    if (connection.latest === response) socket.destroySoon()
  })
}

/**
 * Node takes an answer for gone as soon as its last byte is written into the socket, and ends its connection with the server
 * although the client has not read it. So it is kept here which answer was the last of a connection.
 */
export class Connections {
  private readonly open = new Map<Socket, Connection>()
  /** What is under the connections of TLS, and may not have become one. */
  private readonly bare = new Set<Socket>()
  private ending = false

  constructor(server: Server) {
    const isSecure = server instanceof Tls.Server
    server.on(isSecure ? "secureConnection" : "connection", (socket: Socket) => {
      // Of TLS it may have come before the end, and is there only now.
      if (this.ending) return socket.destroy()
      this.open.set(socket, { latest: undefined })
      socket.once("close", () => this.open.delete(socket))
    })
    if (!isSecure) return
    server.on("connection", (socket: Socket) => {
      this.bare.add(socket)
      socket.once("close", () => this.bare.delete(socket))
    })
  }

  /** There is a request on that connection. */
  asked(socket: Socket, response: ServerResponse): void {
    const connection = this.open.get(socket)
    if (connection === undefined) return
    connection.latest = response
    if (this.ending) endAfter(socket, connection, response)
  }

  /** Ends connections as soon as there is no request on them, which those are at once that wait for one. */
  end(): void {
    this.ending = true
    for (const [socket, connection] of Array.from(this.open)) {
      const { latest } = connection
      if (latest === undefined || latest.closed) socket.destroy()
      else endAfter(socket, connection, latest)
    }
    for (const socket of Array.from(this.bare)) {
      if (socket.bytesRead === 0) socket.destroy()
    }
  }

  /** Cuts whatever is left. */
  destroy(): void {
    for (const socket of [...this.open.keys(), ...this.bare]) socket.destroy()
  }
}
