/** The answer of a token endpoint, read as those in the field write it (RFC 6749, 5.1; field AUT-18). */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Credentials from "../Credentials.ts"
import { member, type Members, numberOf, textOf } from "./members.ts"
import { tidy } from "./serverText.ts"

export interface Expected {
  /** What was asked for. */
  readonly scopes: ReadonlyArray<string> | undefined
  readonly clientId: string | undefined
  /** Whether a proof of a key went along, and whether a token without it is refused. */
  readonly dpop: "off" | "optional" | "required"
  /** When the request was sent, in milliseconds since the epoch. */
  readonly sentAt: number
}

/** What fits into a header, and nothing that could end it. */
const visible = /^[\x21-\x7e]+$/

/** A life longer than this, in seconds, is one without an end. */
const longestLife = 10 * 366 * 24 * 3600

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

const distinct = (scopes: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(scopes)]

/** Texts are parted by blanks; by commas at servers that do so, which shows where nobody asked for a scope with one. */
const split = (text: string, asked: ReadonlyArray<string>): ReadonlyArray<string> => {
  const commas = text.includes(",") && !asked.some((scope) => scope.includes(","))
  return text.split(commas ? /[\s,]+/ : /\s+/).filter(isText)
}

const scopesOf = (answer: Members, asked: ReadonlyArray<string> = []): ReadonlyArray<string> => {
  const value = member(answer, "scope")
  if (Array.isArray(value)) return distinct(value.filter(isText))
  const scopes = typeof value === "string" ? split(value, asked) : []
  return distinct(scopes.length === 0 ? asked : scopes)
}

type TokenType = Credentials.Tokens["tokenType"]

/** Nobody may use a token of a type that he does not know (RFC 6749, 7.1); none said is `Bearer`, as some servers have it. */
const typeOf = (answer: Members, dpop: Expected["dpop"]): Result.Result<TokenType, string> => {
  const said = textOf(answer, "token_type") ?? "bearer"
  switch (said.toLowerCase()) {
    case "bearer":
      return dpop === "required"
        ? Result.fail("the token is bound to no key, although one was shown")
        : Result.succeed("Bearer")
    case "dpop":
      return dpop === "off" ? Result.fail("the token is bound to a key that was not shown") : Result.succeed("DPoP")
    default:
      return Result.fail(`the type of the token is ${tidy(said, [], 40) ?? "unreadable"}`)
  }
}

/** Zero and less is what servers write that know no end; a wrong guess ends in a 401. */
const expiresAt = (answer: Members, sentAt: number): number | undefined => {
  const seconds = numberOf(answer, "expires_in")
  return seconds === undefined || seconds <= 0 || seconds > longestLife
    ? undefined
    : sentAt + Math.floor(seconds * 1000)
}

/** The tokens, or what is the matter, in words that hold nothing of the answer but the type of its token. */
export const tokensOf = (answer: Members, expected: Expected): Result.Result<Credentials.Tokens, string> => {
  const accessToken = textOf(answer, "access_token")
  if (accessToken === undefined) return Result.fail("there is no access token in it")
  if (!visible.test(accessToken)) return Result.fail("the access token is none")
  const end = expiresAt(answer, expected.sentAt)
  const refreshToken = textOf(answer, "refresh_token")
  return Result.map(typeOf(answer, expected.dpop), (tokenType) => ({
    accessToken: Redacted.make(accessToken),
    tokenType,
    scopes: scopesOf(answer, expected.scopes),
    ...(end === undefined ? {} : { expiresAt: end }),
    ...(refreshToken === undefined ? {} : { refreshToken: Redacted.make(refreshToken) }),
    ...(expected.clientId === undefined ? {} : { clientId: expected.clientId })
  }))
}
