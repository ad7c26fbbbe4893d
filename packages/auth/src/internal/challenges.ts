/** What callers are told that may not pass (RFC 6750, 3; RFC 9449, 7.1; RFC 9728, 5.1). */
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Challenge from "../Challenge.ts"
import type { DpopMode } from "../ResourceServer.ts"
import type { Resource } from "./resource.ts"

type Response = HttpServerResponse.HttpServerResponse
type Parameters = ReadonlyArray<readonly [string, string | undefined]>

export interface ChallengeOptions {
  /** What every request needs. */
  readonly scopes: ReadonlyArray<string>
  readonly mode: DpopMode
  /** Algorithms of proofs. */
  readonly algorithms: ReadonlyArray<string>
}

/** The request that is answered. */
export interface Asked {
  readonly resource: Resource
  /** The scheme it came with. */
  readonly scheme: "bearer" | "dpop"
}

export class Challenges {
  private readonly options: ChallengeOptions
  private readonly scope: string | undefined

  constructor(options: ChallengeOptions) {
    this.options = options
    this.scope = options.scopes.length === 0 ? undefined : options.scopes.join(" ")
  }

  /** For those who bring nothing: no error, but where to go and what to ask for. */
  welcome({ resource }: Pick<Asked, "resource">, scope = this.scope): string {
    const said: Parameters = [["resource_metadata", resource.metadataUrl], ["scope", scope]]
    const parameters = [...realmOf(resource), ...said]
    const { mode } = this.options
    return [
      ...(mode === "require" ? [] : [Challenge.print({ scheme: "bearer", parameters })]),
      ...(mode === "off" ? [] : [this.dpop(parameters)])
    ].join(", ")
  }

  /** For those whose token is refused. */
  error(asked: Asked, error: string): string {
    return this.refusal(asked, [["error", error], ["scope", this.scope]])
  }

  /**
   * Adds what the application cannot know to a challenge of its own: where to read on, and the scopes that every request
   * needs, without which a caller that asks for those alone would be turned away next time (ARS-10).
   */
  complete(response: Response, asked: Asked): Response {
    const own = ownChallenge(response)
    if (own === undefined) return response
    const parameters = new Map(own.parameters)
    const scope = own.parameters.get("scope")
    if (scope !== undefined && own.parameters.get("error") === "insufficient_scope") {
      parameters.set("scope", this.withOwn(scope))
    }
    return withChallenge(response, this.refusal(asked, [...parameters]))
  }

  /** The same for somebody who brought nothing: a login comes first (RFC 9110, 15.5.2). */
  invite(response: Response, asked: Pick<Asked, "resource">): Response {
    const own = ownChallenge(response)
    if (own === undefined) return response
    const scope = own.parameters.get("scope")
    const challenge = this.welcome(asked, scope === undefined ? this.scope : this.withOwn(scope))
    return withChallenge(HttpServerResponse.setStatus(response, 401), challenge)
  }

  /** The scopes of every request first, then those of this one. */
  private withOwn(scope: string): string {
    return [...new Set([...this.options.scopes, ...scope.split(" ").filter((word) => word !== "")])].join(" ")
  }

  private refusal({ resource, scheme }: Asked, own: Parameters): string {
    const parameters: Parameters = [...own, ["resource_metadata", resource.metadataUrl], ...realmOf(resource, own)]
    return scheme === "dpop" || this.options.mode === "require"
      ? this.dpop(parameters)
      : Challenge.print({ scheme: "bearer", parameters })
  }

  private dpop(parameters: Parameters): string {
    return Challenge.print({ scheme: "dpop", parameters: [["algs", this.options.algorithms.join(" ")], ...parameters] })
  }
}

/** A challenge has one parameter at least (RFC 6750, 3): without metadata it says what is protected. */
const realmOf = ({ metadataUrl, url }: Resource, own: Parameters = []): Parameters =>
  metadataUrl === undefined && own.every(([name]) => name !== "realm") ? [["realm", url]] : []

const ownChallenge = (response: Response): Challenge.Challenge | undefined => {
  const challenge = Challenge.find(response.headers["www-authenticate"], "bearer")
  return challenge === undefined || challenge.parameters.has("resource_metadata") ? undefined : challenge
}

const withChallenge = (response: Response, challenge: string): Response =>
  HttpServerResponse.setHeader(response, "www-authenticate", challenge)
