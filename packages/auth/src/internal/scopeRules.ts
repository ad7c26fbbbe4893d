/** Scopes: what they may be written with, and which ones others stand for. */
import { quoted } from "./quoted.ts"

const shape = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/** Whether a text is one scope (RFC 6749, 3.3). */
export const isScope = (scope: string): boolean => shape.test(scope)

/** Which of the texts is none, if one is. */
export const scopeFault = (scopes: ReadonlyArray<string> = []): string | undefined => {
  const odd = scopes.find((scope) => !isScope(scope))
  return odd === undefined ? undefined : `scopes: ${quoted(odd)} is no scope`
}

/** Asks for a refresh token (OpenID Connect Core, 11). */
export const offlineAccess = "offline_access"

/** What a resource never asks for: that a client stays logged in is between it and the authorization server (ARS-10). */
export const offered = (scopes: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(scopes)].filter((scope) => scope !== offlineAccess)

export type Implies = (scope: string) => Iterable<string>

/** Scopes that those of one token may come to. */
const maxScopes = 1000

/** The scopes with all that they stand for, and what those stand for. */
export const expand = (scopes: ReadonlyArray<string>, implies: Implies): ReadonlyArray<string> => {
  const all = new Set(scopes)
  for (const scope of all) {
    if (all.size >= maxScopes) break
    for (const implied of implies(scope)) all.add(implied)
  }
  return [...all]
}
