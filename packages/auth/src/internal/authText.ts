/** What errors of authorization say. Nothing of it is secret, for no reason holds a secret. */
import type { Attempt, Reason } from "../AuthError.ts"
import { quotedAll } from "./quoted.ts"
import { oneLine } from "./serverText.ts"
import { spokenTime } from "./spokenTime.ts"

const because = (error: string | undefined, description: string | undefined): string =>
  [error, description].filter((part) => part !== undefined).join(": ")

const tried = (attempts: ReadonlyArray<Attempt>): string =>
  attempts.map(({ outcome, url }) => `${url} (${outcome})`).join(", ")

const sentence = (reason: Reason): string => {
  switch (reason._tag) {
    case "LoginRequired":
      return `${reason.resource} needs a login${
        reason.scopes === undefined ? "" : ` with the scopes ${reason.scopes.join(" ")}`
      }: ${reason.detail}`
    case "LoginDenied":
      return `the login at ${reason.issuer} was denied: ${because(reason.error, reason.description)}`
    case "LoginTimedOut":
      return `nobody finished the login at ${reason.issuer} within ${spokenTime(reason.millis)}`
    case "CallbackRejected":
      return `the answer of the login at ${reason.issuer} was rejected: ${reason.parameter} is ${reason.fault}`
    case "CallbackUnavailable":
      return `the answer of a login cannot be taken at ${reason.address}: ${reason.detail}`
    case "RegistrationRequired":
      return `${reason.issuer} needs a client id: ${reason.detail}${
        reason.configured === undefined ? "" : `: ${quotedAll(reason.configured)}`
      }`
    case "RegistrationRefused":
      return `${reason.issuer} refused to register the client with status ${reason.status}${
        reason.error === undefined ? "" : `, ${because(reason.error, reason.description)}`
      }`
    case "LoginExpired":
      return `the login at ${reason.issuer} for ${reason.resource} has expired`
    case "ScopeRefused":
      return `${reason.resource} needs the scopes ${reason.required.join(" ")}, granted are ${
        reason.granted.join(" ") || "none"
      }`
    case "TokenRejected":
      return `${reason.resource} rejects fresh tokens of ${reason.issuer}${
        reason.error === undefined ? "" : `: ${because(reason.error, reason.description)}`
      }`
    case "WrongAudience":
      return `the metadata of ${reason.server} are those of ${reason.resource}`
    case "DiscoveryFailed":
      return `no metadata of the ${reason.what} found: ${tried(reason.attempts)}`
    case "IssuerMismatch":
      return `${reason.url} names the issuer ${reason.found} instead of ${reason.expected}`
    case "InsecureServer":
      return `${reason.url} is not safe: ${reason.detail}`
    case "OAuthRefused":
      return `the ${reason.endpoint} endpoint of ${reason.issuer} refused: ${because(reason.error, reason.description)}`
    case "Unavailable":
      return reason.attempts === undefined
        ? `${reason.url} is not available: ${reason.detail}`
        : `${reason.detail}: ${tried(reason.attempts)}`
    case "BadAnswer":
      return `the answer of ${reason.url} cannot be read: ${reason.detail}`
    case "NotSupported":
      return `${reason.issuer} does not support ${reason.what}`
    case "StoreFailed":
      return `credentials: ${reason.operation} failed: ${reason.detail}`
    case "Misconfigured":
      return reason.detail
  }
}

/** A sentence about what went wrong, fit for a terminal and a log: servers choose their own names and addresses. */
export const authText = (reason: Reason): string => oneLine(sentence(reason))
