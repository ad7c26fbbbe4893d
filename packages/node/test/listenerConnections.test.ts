/** Which connections of a server are known: those that are open, and no others. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type Server } from "node:http"
import { createServer as createSecureServer } from "node:https"
import { connect as connectSecure } from "node:tls"
import { Connections } from "../src/internal/listenerConnections.ts"
import { certificate } from "./support/certificate.ts"
import { eventually, peer } from "./support/raw.ts"

/** A server without requests, closed with the scope. */
const listening = (server: Server) =>
  Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(typeof address === "object" && address !== null ? Effect.succeed(address.port) : Effect.die("no port"))
      })
    }),
    () => Effect.sync(() => server.close())
  )

describe("the connections of a server", () => {
  it.live("are forgotten as they close", () =>
    Effect.gen(function*() {
      const server = createServer()
      const connections = new Connections(server)
      const port = yield* listening(server)
      const peers = yield* Effect.forEach(["", "GET / HT", ""], (first) => peer(port, first))
      yield* eventually("all are known", () => connections.size === 3)
      for (const { socket } of peers) socket.destroy()
      yield* eventually("none is known", () => connections.size === 0)
      assert.strictEqual(connections.size, 0)
    }))

  it.live("are forgotten with what is under them, where they are encrypted", () =>
    Effect.gen(function*() {
      const server = createSecureServer(certificate)
      const connections = new Connections(server)
      const port = yield* listening(server)
      const socket = connectSecure({ port, host: "127.0.0.1", rejectUnauthorized: false })
      socket.on("error", () => {})
      const bare = yield* peer(port, "")
      // One counts twice: as what it is, and as what is under it.
      yield* eventually("all are known", () => connections.size === 3)
      socket.destroy()
      bare.socket.destroy()
      yield* eventually("none is known", () => connections.size === 0)
      assert.strictEqual(connections.size, 0)
    }))
})
