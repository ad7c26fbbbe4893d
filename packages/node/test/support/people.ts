/** People, browsers and terminals that do what a test says. */
import type { AuthError } from "@mcpfx/auth"
import { UserAgent } from "@mcpfx/auth"
import { Browser, LoginError, LoginTerminal } from "@mcpfx/node"
import { Effect, Layer } from "effect"
import { connect } from "node:net"

export const login: UserAgent.Login = { issuer: "https://login.example.com", resource: "https://mcp.example.com" }

export const state = "Zm9yIG9uZSBsb2dpbiBvbmx5"

export const page = (own = state): URL => new URL(`https://login.example.com/authorize?client_id=c&state=${own}`)

/** The browser runs this with the page it is shown; its fiber ends with the login. */
export const browsing = (visit: (url: URL) => Effect.Effect<void, LoginError.CannotOpen>): Layer.Layer<never> =>
  Layer.succeed(Browser.CurrentBrowser, { open: visit })

export const headless = Browser.layerNone

/** A terminal with somebody who types these lines, and then closes it; what was shown is kept. */
export const typing = (lines: ReadonlyArray<string | "\u0003">, shown: Array<string> = []): Layer.Layer<never> => {
  const left = [...lines]
  return Layer.succeed(LoginTerminal.CurrentLoginTerminal, {
    isInteractive: Effect.succeed(true),
    show: (text) => Effect.sync(() => void shown.push(text)),
    ask: (question) =>
      Effect.suspend(() => {
        shown.push(question)
        const line = left.shift()
        if (line === undefined) return Effect.fail(new LoginError.Unanswered({ reason: "closed" }))
        return line === "\u0003" ? Effect.fail(new LoginError.Unanswered({ reason: "quit" })) : Effect.succeed(line)
      })
  })
}

/** No terminal, so nothing may be asked; what is printed is kept. */
export const printing = (shown: Array<string> = []): Layer.Layer<never> =>
  Layer.succeed(LoginTerminal.CurrentLoginTerminal, {
    isInteractive: Effect.succeed(false),
    show: (text) => Effect.sync(() => void shown.push(text)),
    ask: () => Effect.die(new Error("nobody is there to be asked"))
  })

export interface Seen {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** What a browser gets at an address. */
export const get = (address: string, init: RequestInit = {}): Effect.Effect<Seen, Error> =>
  Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(address, { ...init, signal, redirect: "manual" })
      return { status: response.status, headers: response.headers, body: await response.text() }
    },
    catch: (cause) => new Error("no answer", { cause })
  })

/** Writes to the listener and gives what it says until the connection ends; `undefined` where there is nobody. */
export const raw = (address: string, text: string): Effect.Effect<string | undefined> =>
  Effect.callback((resume) => {
    const { hostname, port } = new URL(address)
    let heard = ""
    const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ""), () => socket.write(text))
    socket.on("data", (chunk) => heard += chunk.toString())
    socket.on("error", () => resume(Effect.succeed(heard === "" ? undefined : heard)))
    socket.on("close", () => resume(Effect.succeed(heard)))
    return Effect.sync(() => socket.destroy())
  })

/** One login, from the listener to the answer. `first` runs with the redirect address before the page is shown. */
export const logIn = (
  options: { readonly registered?: ReadonlyArray<string>; readonly page?: URL } = {},
  first: (redirectUri: string) => Effect.Effect<void> = () => Effect.void
): Effect.Effect<URL, AuthError.AuthError, UserAgent.UserAgent> =>
  Effect.scoped(Effect.gen(function*() {
    const agent = yield* UserAgent.UserAgent
    const visit = yield* agent.visit(options.registered)
    yield* first(visit.redirectUri)
    return yield* visit.open(options.page ?? page(), login)
  }))
