/** What must not be told, learned from the network while it happens: tokens, codes, verifiers, secrets and assertions. */

export type Kind =
  | "access token"
  | "refresh token"
  | "code"
  | "verifier"
  | "client secret"
  | "assertion"
  | "device code"
  | "private key"

export interface Secret {
  readonly kind: Kind
  readonly value: string
  /** The origin that gave it, or that it was first sent to. */
  readonly origin: string
}

/** Shorter than this and it would be found by chance. */
const shortest = 8

const requested: ReadonlyArray<readonly [name: string, kind: Kind]> = [
  ["code", "code"],
  ["code_verifier", "verifier"],
  ["refresh_token", "refresh token"],
  ["client_secret", "client secret"],
  ["client_assertion", "assertion"],
  ["assertion", "assertion"],
  ["subject_token", "assertion"],
  ["device_code", "device code"]
]

const answered: ReadonlyArray<readonly [name: string, kind: Kind]> = [
  ["access_token", "access token"],
  ["refresh_token", "refresh token"],
  ["id_token", "assertion"],
  ["client_secret", "client secret"],
  ["registration_access_token", "access token"],
  ["device_code", "device code"]
]

/** The ways in which a text may hold a secret. */
const forms = (value: string): ReadonlyArray<string> => [
  value,
  encodeURIComponent(value),
  Buffer.from(value).toString("base64"),
  Buffer.from(value).toString("base64url"),
  JSON.stringify(value).slice(1, -1)
]

export class Secrets {
  private readonly known = new Map<string, Secret>()

  get all(): ReadonlyArray<Secret> {
    return [...this.known.values()]
  }

  of(kind: Kind): ReadonlyArray<string> {
    return this.all.filter((secret) => secret.kind === kind).map(({ value }) => value)
  }

  add(kind: Kind, value: unknown, origin: string): void {
    if (typeof value !== "string" || value.length < shortest || this.known.has(value)) return
    this.known.set(value, { kind, value, origin })
  }

  /** What a request to an authorization server says. */
  asked(origin: string, form: URLSearchParams, authorization: string | undefined): void {
    for (const [name, kind] of requested) this.add(kind, form.get(name), origin)
    const basic = /^basic (.+)$/i.exec(authorization ?? "")?.[1]
    if (basic === undefined) return
    const [, secret = ""] = Buffer.from(basic, "base64").toString().split(":")
    this.add("client secret", decodeURIComponent(secret), origin)
  }

  /** What an authorization server answers. */
  told(origin: string, body: object): void {
    for (const [name, kind] of answered) this.add(kind, Reflect.get(body, name), origin)
  }

  /** The secrets that a text holds, in whatever form. */
  within(text: string): ReadonlyArray<Secret> {
    return this.all.filter(({ value }) => forms(value).some((form) => text.includes(form)))
  }

  /** What a text gives away, by kind. */
  leaks(text: string): ReadonlyArray<Kind> {
    return this.within(text).map(({ kind }) => kind)
  }
}
