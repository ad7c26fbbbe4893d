/** The client of version 1 of the TypeScript SDK, which logs in. */
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js"
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js"
import { textsIn } from "../peerClient.ts"
import type { Browser } from "./browser.ts"
import type { Record } from "./record.ts"
import { type LoggedIn, remembering, returning } from "./returning.ts"

/** The provider that applications write themselves, with all it needs to come back from a browser. */
export interface Interactive extends OAuthClientProvider {
  /** Where the browser came back to. */
  readonly answer: () => URL
  readonly kept: { info?: OAuthClientInformationMixed; tokens?: OAuthTokens }
}

export const interactive = (browser: Browser): Interactive => {
  const kept: { info?: OAuthClientInformationMixed; tokens?: OAuthTokens } = {}
  const back = returning(browser)
  return {
    kept,
    ...back,
    ...remembering(kept),
    clientMetadata: { ...back.clientMetadata, grant_types: ["authorization_code", "refresh_token"] }
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
