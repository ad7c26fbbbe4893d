/** What both versions of the SDK ask of an application whose person comes back from a browser. */
import { randomUUID } from "node:crypto"
import type { Browser } from "./browser.ts"
import { callback } from "./oidcPeer.ts"

/** A client that is logged in. */
export interface LoggedIn {
  /** What the tool `whoami` says. */
  readonly call: (tool: string) => Promise<string>
  /** Goes on after a browser has come back in the middle of things. */
  readonly resume: () => Promise<void>
  readonly revision: () => string | undefined
  readonly close: () => Promise<void>
}

/** The part of a provider that has to do with the browser. */
export const returning = (browser: Browser) => {
  const state = randomUUID()
  let verifier = ""
  let answer: URL | undefined
  return {
    /** Where the browser came back to. */
    answer: (): URL => {
      if (answer?.searchParams.get("state") !== state) throw new Error("the state came back changed")
      return answer
    },
    redirectUrl: callback,
    clientMetadata: {
      client_name: "interop",
      redirect_uris: [callback],
      response_types: ["code"],
      token_endpoint_auth_method: "none"
    },
    state: () => state,
    redirectToAuthorization: async (url: URL) => void (answer = await browser.visit(url, callback)),
    saveCodeVerifier: (value: string) => void (verifier = value),
    codeVerifier: () => verifier
  }
}

/** What a provider remembers, in `kept`. */
export const remembering = <Info, Tokens>(kept: { info?: Info; tokens?: Tokens }) => ({
  clientInformation: () => kept.info,
  saveClientInformation: (info: Info) => void (kept.info = info),
  tokens: () => kept.tokens,
  saveTokens: (tokens: Tokens) => void (kept.tokens = tokens)
})
