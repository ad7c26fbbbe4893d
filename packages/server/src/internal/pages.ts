/** A page that the user is asked to visit, and the word to the client that the visit is over. */
import type { UrlParams } from "@mcpfx/schema/Elicitation"
import { InvalidContract } from "@mcpfx/schema/InvalidContract"
import * as Methods from "@mcpfx/schema/Methods"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import type { Page, UrlOptions } from "../Input.ts"

const isPage = (url: string): boolean => {
  const protocol = URL.canParse(url) ? new URL(url).protocol : undefined
  return protocol === "https:" || protocol === "http:"
}

export const pageOf = (
  request: RequestContext["Service"],
  options: UrlOptions
): { readonly params: UrlParams; readonly page: Page } => {
  const { message, url } = options
  if (!isPage(url)) throw new InvalidContract({ kind: "form", name: "url", reason: "a page has an http(s) address" })
  const elicitationId = options.elicitationId ?? SecureRandom.uuidV4Unsafe()
  return {
    params: { mode: "url", message, url, elicitationId },
    page: {
      elicitationId,
      complete: Effect.suspend(() =>
        (request.announce ?? request.notify)(Methods.ElicitationComplete, { elicitationId })
      )
    }
  }
}
