/** The client of version 2 of the TypeScript SDK, which logs in. */
import {
  Client,
  type DpopSession,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError
} from "@modelcontextprotocol/client"
import { textsIn } from "../peerClient.ts"
import type { Browser } from "./browser.ts"
import type { Record } from "./record.ts"
import { type LoggedIn, remembering, returning } from "./returning.ts"

/** What such a provider keeps. */
export interface Kept {
  discovery?: OAuthDiscoveryState
  info?: StoredOAuthClientInformation
  tokens?: StoredOAuthTokens
}

/** The provider that applications write themselves, with all it needs to come back from a browser. */
export interface Interactive extends OAuthClientProvider {
  /** Where the browser came back to. */
  readonly answer: () => URL
  readonly kept: Kept
}

export const interactive = (browser: Browser, dpop?: DpopSession): Interactive => {
  const kept: Kept = {}
  return {
    kept,
    ...returning(browser),
    ...remembering(kept),
    discoveryState: () => kept.discovery,
    saveDiscoveryState: (state) => void (kept.discovery = state),
    ...(dpop === undefined ? {} : { dpop: () => dpop })
  }
}

const isInteractive = (provider: OAuthClientProvider): provider is Interactive => "answer" in provider

const clientFor = (revision: string): Client =>
  new Client({ name: "interop", version: "1.0.0" }, {
    versionNegotiation: { mode: revision === "2026-07-28" ? { pin: revision } : "legacy" }
  })

/** Connects in the era of a revision, and logs in where the provider needs a person for it. */
export const login = async (
  url: string,
  authProvider: OAuthClientProvider,
  revision: string,
  { fetch }: Record
): Promise<LoggedIn> => {
  const client = clientFor(revision)
  const open = () => new StreamableHTTPClientTransport(new URL(url), { authProvider, fetch })
  const first = open()
  let used = first
  try {
    await client.connect(first)
  } catch (error) {
    if (!(error instanceof UnauthorizedError) || !isInteractive(authProvider)) throw error
    await first.finishAuth(authProvider.answer().searchParams)
    used = open()
    await client.connect(used)
  }
  return {
    call: async (name) => textsIn((await client.callTool({ name })).content),
    resume: async () => {
      if (isInteractive(authProvider)) await used.finishAuth(authProvider.answer().searchParams)
    },
    revision: () => client.getNegotiatedProtocolVersion(),
    close: async () => {
      if (client.getProtocolEra() !== "modern") await used.terminateSession()
      await client.close()
    }
  }
}
