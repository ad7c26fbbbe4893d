/** Asks addresses for metadata, one after the other, and keeps what each of them said. */
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Result from "effect/Result"
import * as AuthError from "../AuthError.ts"
import type { Metadata } from "../AuthorizationServer.ts"
import { decodeServer, serverAddresses } from "../Discovery.ts"
import { isLater, retryAfterOf } from "./later.ts"
import type { Outbound } from "./outbound.ts"
import { bareUrl, tidy } from "./serverText.ts"

/** What a server calls something, as errors show it. */
export const shown = (name: string): string => tidy(name, [], 400) ?? ""

/** An address as errors show it; one that is no URL is shown as a name is. */
export const addressOf = (url: string): string => URL.canParse(url) ? bareUrl(url) : shown(url.replace(/[?#].*$/s, ""))

/** What the one that is asked is told besides. */
type HeadersFor = (address: string) => Readonly<Record<string, string>> | undefined

export interface IssuerOptions {
  /** Whether metadata of a server may name another issuer than the one it is known by. */
  readonly trustIssuer?: ((named: string, found: string) => boolean) | undefined
  readonly headersFor?: HeadersFor | undefined
}

/** Statuses of an address at which there is nothing. */
const nothing: ReadonlySet<number> = new Set([404, 405, 410])

export class MetadataSearch {
  readonly attempts: Array<AuthError.Attempt> = []
  /** What did not answer, and may do so later: the first such address. */
  later: Pick<AuthError.Unavailable, "url" | "status" | "retryAfter"> | undefined = undefined
  /** Whether anything was found that is no metadata, and will not be later. */
  private broken = false
  insecure: AuthError.InsecureServer | undefined = undefined
  mismatch: AuthError.IssuerMismatch | undefined = undefined
  private readonly outbound: Outbound

  constructor(outbound: Outbound) {
    this.outbound = outbound
  }

  /** One address: what its answer reads as, or nothing, with the reason noted. */
  look<A>(
    address: string,
    read: (text: string) => Result.Result<A, string>,
    headers?: Readonly<Record<string, string>>
  ): Effect.Effect<A | undefined> {
    const request = HttpClientRequest.get(address, { headers: { accept: "application/json", ...headers } })
    return Effect.match(this.outbound.send(request), {
      onFailure: (error) => this.failed(address, error),
      onSuccess: ({ body, headers, status }) => {
        if (status < 200 || status > 299) return this.answered(address, status, headers)
        const value = read(body)
        return Result.isSuccess(value) ? value.success : this.unfit(address, value.failure)
      }
    })
  }

  /**
   * The metadata of an authorization server that is known as one of these issuers, all of the same addresses: those of the
   * first address that describes this very one (RFC 8414, 3.3; ACL-05).
   */
  issuer(
    issuers: readonly [string, ...Array<string>],
    { headersFor, trustIssuer }: IssuerOptions = {}
  ): Effect.Effect<Metadata | undefined> {
    const [issuer] = issuers
    return Effect.gen({ self: this }, function*() {
      const addresses = serverAddresses(issuer)
      if (addresses.length === 0) this.unfit(issuer, "no issuer: it has to be a URL without query and fragment")
      for (const address of addresses) {
        const metadata = yield* this.look(address, decodeServer, headersFor?.(address))
        if (metadata === undefined) continue
        const found = metadata.issuer
        if (issuers.includes(found) || trustIssuer?.(issuer, found) === true) return metadata
        const names = { expected: shown(issuer), found: shown(found) }
        this.mismatch ??= new AuthError.IssuerMismatch({ url: addressOf(address), ...names })
        this.note(address, `names the issuer ${names.found}`)
      }
      return undefined
    })
  }

  /**
   * What came of a search that found nothing. It may go well later where something did not answer now, and all that did
   * answer said that there is nothing.
   */
  end(what: AuthError.DiscoveryFailed["what"]): Effect.Effect<never, AuthError.AuthError> {
    const { attempts, later } = this
    if (this.mismatch !== undefined) return AuthError.fail(this.mismatch)
    if (this.insecure !== undefined) return AuthError.fail(this.insecure)
    return later === undefined || this.broken
      ? AuthError.fail(new AuthError.DiscoveryFailed({ what, attempts }))
      : AuthError.fail(
        new AuthError.Unavailable({ ...later, detail: `no metadata of the ${what} can be had now`, attempts })
      )
  }

  private unfit(url: string, outcome: string): undefined {
    this.broken = true
    this.note(url, outcome)
  }

  private note(url: string, outcome: string): undefined {
    this.attempts.push({ url: addressOf(url), outcome })
  }

  /** What went wrong at one address is written down, whatever it was (field AUT-04). */
  private failed(url: string, { message, reason }: AuthError.AuthError): undefined {
    if (reason._tag === "InsecureServer") this.insecure ??= reason
    if (reason._tag === "Unavailable") this.later ??= { url: addressOf(url) }
    else this.broken = true
    const said = "detail" in reason ? reason.detail : message
    this.note(url, reason._tag === "InsecureServer" ? `not safe: ${said}` : said)
  }

  private answered(url: string, status: number, headers: Headers.Headers): undefined {
    if (isLater(status)) this.later = { ...retryAfterOf(headers), ...(this.later ?? { url: addressOf(url), status }) }
    else if (!nothing.has(status)) this.broken = true
    this.note(url, `status ${status}`)
  }
}
