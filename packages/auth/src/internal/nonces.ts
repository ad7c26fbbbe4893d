/** Nonces that a server gives out and knows again without keeping them (RFC 9449, 8): each is good in its span of time. */
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"

const encoder = new TextEncoder()

export class Nonces {
  private readonly secret: Uint8Array<ArrayBuffer>
  private readonly life: number
  /** The nonces of this span and of the one before, which is good still. */
  private span = -1
  private nonce = ""
  private before = ""

  /** A nonce is given out for `life` milliseconds, and good for as long again. */
  constructor(secret: Uint8Array<ArrayBuffer>, life: number) {
    this.secret = secret
    this.life = life
  }

  current(now: number): Effect.Effect<string> {
    return Effect.map(this.renew(now), () => this.nonce)
  }

  isGood(nonce: unknown, now: number): Effect.Effect<boolean> {
    return Effect.map(this.renew(now), () => nonce === this.nonce || nonce === this.before)
  }

  private renew(now: number): Effect.Effect<void> {
    const span = Math.floor(now / this.life)
    if (span === this.span) return Effect.void
    return Effect.map(
      Effect.all([this.sign(span), this.sign(span - 1)]),
      ([nonce, before]) => {
        this.span = span
        this.nonce = nonce
        this.before = before
      }
    )
  }

  private sign(span: number): Effect.Effect<string> {
    return WebCrypto.use(({ subtle }) =>
      Effect.promise(() =>
        subtle.importKey("raw", this.secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]).then((key) =>
          subtle.sign("HMAC", key, encoder.encode(`DPoP-Nonce ${span}`))
        )
      )
    ).pipe(Effect.map((mac) => Base64Url.encode(new Uint8Array(mac))))
  }
}
