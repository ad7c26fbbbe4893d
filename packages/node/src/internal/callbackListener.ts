/** Listens on the loopback interface for browsers that come back from a login. */
import * as AuthError from "@mcpfx/auth/AuthError"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createHash, timingSafeEqual } from "node:crypto"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { type Outcome, render } from "./callbackPage.ts"
import { type Redirect, withPort } from "./redirectUris.ts"

/** A login that waits, or has had its answer: the same one again gets the same page and does nothing. */
export interface Waiting {
  readonly path: string
  readonly state: Buffer
  /** Called once. */
  readonly answer: (url: URL) => void
  answered: boolean
}

export interface Listener {
  readonly port: number
  readonly logins: Set<Waiting>
}

/** What clients may take; a browser needs a few milliseconds and a few hundred bytes. */
export interface Limits {
  readonly connections: number
  readonly headerBytes: number
  readonly headerMillis: number
  readonly requestMillis: number
  /** How often requests are looked at that take too long. */
  readonly checkMillis: number
}

const defaults: Limits = {
  connections: 64,
  headerBytes: 16_384,
  headerMillis: 5_000,
  requestMillis: 10_000,
  checkMillis: 1_000
}

/** Answers that are on their way out get as long when the login is over. */
const lastWords = "1 second"

export const digest = (state: string): Buffer => createHash("sha256").update(state).digest()

/** The login that an address is the answer of: the right path, and its `state`, once. */
const loginOf = (logins: ReadonlySet<Waiting>, url: URL): Waiting | undefined => {
  const [state, ...more] = url.searchParams.getAll("state")
  if (state === undefined || more.length > 0) return undefined
  const given = digest(state)
  let found: Waiting | undefined
  for (const login of logins) {
    // Every one is compared, in constant time each.
    if (timingSafeEqual(login.state, given) && login.path === url.pathname) found = login
  }
  return found
}

/** What a request is. Names of hosts are compared to keep away pages whose own name leads here (DNS rebinding). */
const judge = (
  { headers, method, url: target = "" }: IncomingMessage,
  origin: URL,
  logins: ReadonlySet<Waiting>
): { readonly outcome: Outcome; readonly login?: Waiting; readonly url?: URL } => {
  if (headers.host?.toLowerCase() !== origin.host) return { outcome: "host" }
  if (!target.startsWith("/") || target.startsWith("//")) return { outcome: "elsewhere" }
  const url = new URL(origin.origin + target)
  if (![...logins].some(({ path }) => path === url.pathname)) return { outcome: "elsewhere" }
  if (method !== "GET") return { outcome: "method" }
  const login = loginOf(logins, url)
  if (login === undefined) return { outcome: "foreign" }
  return { outcome: url.searchParams.has("error") ? "denied" : "answered", login, url }
}

const reply = (response: ServerResponse, outcome: Outcome): void => {
  const { body, headers, status } = render(outcome)
  response.writeHead(status, { ...headers })
  response.end(response.req.method === "HEAD" ? undefined : body)
}

const addresses = ({ host }: Redirect): ReadonlyArray<string> => {
  if (host === "[::1]") return ["::1"]
  // Where a browser looks for `localhost` is its own choice; nobody else may sit at the other address.
  return host === "localhost" ? ["127.0.0.1", "::1"] : ["127.0.0.1"]
}

const listenAt = (server: Server, host: string, port: number) =>
  Effect.callback<number, NodeJS.ErrnoException>((resume) => {
    const failed = (error: NodeJS.ErrnoException) => resume(Effect.fail(error))
    server.once("error", failed)
    server.listen({ host, port, exclusive: true }, () => {
      server.off("error", failed)
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : port))
    })
  })

type OnRequest = (request: IncomingMessage, response: ServerResponse) => void

const makeServer = (limits: Limits, sockets: Set<Socket>, onRequest: OnRequest) => {
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headerMillis,
    requestTimeout: limits.requestMillis,
    connectionsCheckingInterval: limits.checkMillis
  }, onRequest)
  server.timeout = limits.requestMillis
  server.maxRequestsPerSocket = 1
  // Such as a connection that could not be taken for want of descriptors: the next one may be.
  server.on("error", () => {})
  server.on("connection", (socket) => {
    // Who holds connections without a word must not keep the browser out: the oldest one goes.
    const [oldest] = sockets
    if (oldest !== undefined && sockets.size >= limits.connections) {
      oldest.destroy()
      sockets.delete(oldest)
    }
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  return server
}

const ended = (servers: ReadonlyArray<Server>) =>
  Effect.forEach(servers, (server) =>
    Effect.callback<void>((resume) => {
      if (server.listening) server.close(() => resume(Effect.void))
      else resume(Effect.void)
    }), { concurrency: "unbounded", discard: true })

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is taken",
  EACCES: "the port is for the administrator alone"
}

/** A machine without IPv6 has one address less. */
const withoutFamily = new Set(["EADDRNOTAVAIL", "EAFNOSUPPORT", "EINVAL"])

/**
 * Listens until the scope closes, at all addresses that the host may stand for. The port is taken or it is not: nothing is
 * waited for.
 */
export const listen = (
  redirect: Redirect,
  limits: Limits = defaults
): Effect.Effect<Listener, AuthError.CallbackUnavailable, Scope.Scope> =>
  Effect.gen(function*() {
    const sockets = new Set<Socket>()
    const leaving = new Set<Socket>()
    const logins = new Set<Waiting>()
    let origin = new URL(withPort(redirect, redirect.port))
    const onRequest = (request: IncomingMessage, response: ServerResponse) => {
      leaving.add(request.socket)
      request.socket.once("close", () => leaving.delete(request.socket))
      const { login, outcome, url } = judge(request, origin, logins)
      reply(response, outcome)
      if (login === undefined || url === undefined || login.answered) return
      login.answered = true
      login.answer(url)
    }
    const servers: Array<Server> = []
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        for (const socket of sockets) if (!leaving.has(socket)) socket.destroy()
        return Effect.andThen(
          Effect.timeoutOption(ended(servers), lastWords),
          Effect.sync(() => {
            for (const socket of sockets) socket.destroy()
          })
        )
      })
    )
    let port = redirect.port
    for (const host of addresses(redirect)) {
      const server = makeServer(limits, sockets, onRequest)
      servers.push(server)
      const bound = yield* Effect.result(Effect.uninterruptible(listenAt(server, host, port)))
      if (bound._tag === "Success") port = bound.success
      else if (servers.length === 1 || !withoutFamily.has(bound.failure.code ?? "")) {
        const detail = reasons[bound.failure.code ?? ""] ?? bound.failure.code ?? "it cannot be listened at"
        return yield* new AuthError.CallbackUnavailable({ address: withPort(redirect, port), detail })
      }
    }
    origin = new URL(withPort(redirect, port))
    return { port, logins }
  })
