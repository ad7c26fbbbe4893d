/** All that the server knows: bounded tables in memory, and what it was told. */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import type { Fault } from "../../AuthorizationFault.ts"
import { fromOptions } from "./clientRecord.ts"
import * as Keys from "./keys.ts"
import type { Client, Consent, Endpoint, Lifetimes, Options, Seen, User } from "./model.ts"
import { Table } from "./table.ts"

/** What one login gave: all tokens that came of it end together. */
export interface Family {
  readonly id: string
  readonly clientId: string
  readonly user: User | undefined
  revoked: boolean
}

export interface AccessToken {
  readonly token: string
  readonly claims: Readonly<Record<string, unknown>>
  readonly clientId: string
  readonly expiresAt: number
  readonly family: Family
  ended: boolean
}

export interface RefreshToken {
  readonly token: string
  readonly family: Family
  readonly scopes: ReadonlyArray<string>
  readonly resources: ReadonlyArray<string>
  readonly jkt: string | undefined
  readonly expiresAt: number
  used: boolean
}

/** What a login asked for, checked. */
export interface Asked {
  readonly client: Client
  readonly redirectUri: string
  /** Whether the request named it, so that the token request has to as well. */
  readonly redirectNamed: boolean
  readonly challenge: string
  readonly scopes: ReadonlyArray<string>
  readonly resources: ReadonlyArray<string>
  readonly state: string | undefined
  readonly nonce: string | undefined
  readonly jkt: string | undefined
}

export interface Code {
  readonly asked: Asked
  readonly user: User
  readonly expiresAt: number
  /** Set once the code was used: what came of it. */
  family: Family | undefined
}

export interface PendingConsent {
  readonly asked: Asked
  /** The browser that was shown the page. */
  readonly browser: string
  readonly expiresAt: number
}

export interface Device {
  readonly deviceCode: string
  readonly userCode: string
  readonly client: Client
  readonly scopes: ReadonlyArray<string>
  readonly resources: ReadonlyArray<string>
  readonly expiresAt: number
  interval: number
  askedAt: number | undefined
  decision: { readonly user: User } | "denied" | "used" | undefined
}

const durations = {
  accessToken: "1 hour",
  refreshToken: "30 days",
  code: "1 minute",
  deviceCode: "10 minutes",
  consent: "10 minutes",
  assertion: "5 minutes"
} as const

export interface State {
  readonly options: Options
  readonly issuer: string
  /** The path of the issuer, without a slash at its end. */
  readonly base: "" | `/${string}`
  readonly users: ReadonlyArray<User>
  readonly keys: Keys.KeyRing
  readonly clients: Table<Client>
  /** Clients by the address of their document, with the time until which they are not fetched again. */
  readonly documents: Table<{ readonly client: Client; readonly until: number }>
  readonly codes: Table<Code>
  readonly consents: Table<PendingConsent>
  readonly accessTokens: Table<AccessToken>
  readonly refreshTokens: Table<RefreshToken>
  readonly devices: Table<Device>
  /** Ids of assertions and proofs that were seen. */
  readonly jtis: Table<true>
  readonly faults: Map<Endpoint, Array<Fault>>
  readonly counts: Map<Endpoint, number>
  /** The last requests, the oldest first. */
  readonly seen: Array<Noted>
  consent: Consent
  /** Who logs in where nobody is asked. */
  chosen: string | undefined
  metadata: Readonly<Record<string, unknown>>
  /** The nonce that proofs have to have, where they have to have one. */
  nonce: string
  readonly millis: (what: keyof Lifetimes) => number
  /** 256 bits, as text for addresses. */
  readonly random: Effect.Effect<string>
}

/** A request of which the answer is not known yet. */
export interface Noted extends Omit<Seen, "status"> {
  status: number
}

/** How many requests are remembered. */
export const maxSeen = 10_000

const defaultUsers: ReadonlyArray<User> = [{ id: "user", claims: { name: "Test User", email: "user@login.test" } }]

/** An issuer has no query and no fragment (RFC 8414, 2), and what a router takes for a pattern cannot be in its path. */
const isIssuer = (issuer: string): boolean => {
  const url = URL.parse(issuer)
  return url !== null && (url.protocol === "https:" || url.protocol === "http:") && !/[?#*]/.test(issuer)
}

export const make = (issuer: string, options: Options): Effect.Effect<State, never, SecureRandom.SecureRandom> =>
  Effect.gen(function*() {
    if (!isIssuer(issuer)) {
      return yield* Effect.die(
        new Error(
          `${JSON.stringify(issuer)} cannot be an issuer: it has to be an address of http, without "?", "#" and "*"`
        )
      )
    }
    const secure = yield* SecureRandom.SecureRandom
    const random = Effect.map(secure.randomBytes(32), Base64Url.encode)
    const clients = new Table<Client>()
    for (const client of options.clients ?? []) clients.set(client.clientId, fromOptions(client))
    const key = yield* Keys.generate(options.algorithm ?? "ES256", yield* random)
    const users = options.users ?? defaultUsers
    const path = new URL(issuer).pathname.replace(/^\/|\/$/g, "")
    return {
      options,
      issuer,
      base: path === "" ? "" : `/${path}`,
      users: users.length === 0 ? defaultUsers : users,
      keys: { current: key, previous: undefined, published: [key] },
      clients,
      documents: new Table(1_000),
      codes: new Table(),
      consents: new Table(),
      accessTokens: new Table(100_000),
      refreshTokens: new Table(100_000),
      devices: new Table(),
      jtis: new Table(100_000),
      faults: new Map(),
      counts: new Map(),
      seen: [],
      consent: options.consent ?? "page",
      chosen: undefined,
      metadata: options.metadata ?? {},
      nonce: yield* random,
      millis: (what) => Duration.toMillis(options.lifetimes?.[what] ?? durations[what]),
      random
    }
  })

/** Somebody by id; the first where none is named. */
export const userOf = (state: State, id: string | undefined): User | undefined =>
  id === undefined ? state.users[0] : state.users.find((user) => user.id === id)
