/** The client of version 1 of the TypeScript SDK, which logs in. */
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js"
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js"
import { randomUUID } from "node:crypto"
import { textsIn } from "../peerClient.ts"
import type { Browser } from "./browser.ts"
import { callback } from "./oidcPeer.ts"
import type { Record } from "./record.ts"

/** A client that is logged in. */
export interface LoggedIn {
  /** What the tool `whoami` says. */
  readonly call: (tool: string) => Promise<string>
  /** Goes on after a browser has come back in the middle of things. */
  readonly resume: () => Promise<void>
  readonly revision: () => string | undefined
  readonly close: () => Promise<void>
}

/** The provider that applications write themselves, with all it needs to come back from a browser. */
export interface Interactive extends OAuthClientProvider {
  /** Where the browser came back to. */
  readonly answer: () => URL
  readonly kept: { info?: OAuthClientInformationMixed; tokens?: OAuthTokens }
}

export const interactive = (browser: Browser): Interactive => {
  const kept: { info?: OAuthClientInformationMixed; tokens?: OAuthTokens } = {}
  const state = randomUUID()
  let verifier = ""
  let answer: URL | undefined
  return {
    kept,
    answer: () => {
      if (answer?.searchParams.get("state") !== state) throw new Error("the state came back changed")
      return answer
    },
    redirectUrl: callback,
    clientMetadata: {
      client_name: "interop",
      redirect_uris: [callback],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none"
    },
    state: () => state,
    clientInformation: () => kept.info,
    saveClientInformation: (info) => void (kept.info = info),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    redirectToAuthorization: async (url) => void (answer = await browser.visit(url, callback)),
    saveCodeVerifier: (value) => void (verifier = value),
    codeVerifier: () => verifier
  }
}

const isInteractive = (provider: OAuthClientProvider): provider is Interactive => "answer" in provider

const transportTo = (url: string, authProvider: OAuthClientProvider, { fetch }: Record) =>
  new StreamableHTTPClientTransport(new URL(url), { authProvider, fetch })

/** Connects, and logs in where the provider needs a person for it. */
export const login = async (url: string, provider: OAuthClientProvider, record: Record): Promise<LoggedIn> => {
  const client = new Client({ name: "interop", version: "1.0.0" })
  const first = transportTo(url, provider, record)
  let used = first
  try {
    await client.connect(Object.assign(first, { onclose: () => {}, onerror: () => {} }))
  } catch (error) {
    if (!(error instanceof UnauthorizedError) || !isInteractive(provider)) throw error
    await first.finishAuth(provider.answer().searchParams.get("code") ?? "")
    used = transportTo(url, provider, record)
    await client.connect(Object.assign(used, { onclose: () => {}, onerror: () => {} }))
  }
  return {
    call: async (name) => textsIn((await client.callTool({ name })).content),
    resume: async () => {
      if (isInteractive(provider)) await used.finishAuth(provider.answer().searchParams.get("code") ?? "")
    },
    revision: () => used.protocolVersion,
    close: async () => {
      await used.terminateSession()
      await client.close()
    }
  }
}
