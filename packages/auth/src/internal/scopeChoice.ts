/** Which scopes to ask for. Order is kept and nothing is named twice. */
import * as Arr from "effect/Array"
import { isScope, offlineAccess } from "./scopeRules.ts"

export type Scopes = ReadonlyArray<string>

/** The names in a `scope` parameter, but for those that are none (RFC 6749, 3.3); none where it is empty. */
export const parse = (text: string | undefined): Scopes =>
  text === undefined ? [] : Arr.dedupe(text.split(/[ \t\r\n]+/).filter(isScope))

export const union = (...all: ReadonlyArray<Scopes | undefined>): Scopes =>
  Arr.dedupe(all.flatMap((scopes) => scopes ?? []))

/** Whether each of `wanted` is in `had`. */
export const covers = (had: Scopes, wanted: Scopes): boolean => wanted.every((scope) => had.includes(scope))

export interface Sources {
  /** What the challenge asks for: it is authoritative (ACL-26). */
  readonly challenged: Scopes
  /** What the program asks for. */
  readonly configured: Scopes | undefined
  /** What the server's metadata list. */
  readonly supported: Scopes | undefined
  /** What was granted or asked for before, which is not to be lost (ACL-28). */
  readonly earlier: Scopes
}

/** What to ask for; `undefined` leaves the parameter out (field AUT-12). */
export const wanted = ({ challenged, configured, earlier, supported }: Sources): Scopes | undefined => {
  const base = challenged.length > 0 ? challenged : configured ?? supported
  const all = union(earlier, base, configured)
  return all.length === 0 ? undefined : all
}

/** With `offline_access`, where the authorization server lists it and anything is asked for at all (ACL-29). */
export const offline = (scopes: Scopes | undefined, listed: Scopes | undefined): Scopes | undefined =>
  scopes !== undefined && listed?.includes(offlineAccess) === true ? union(scopes, [offlineAccess]) : scopes
