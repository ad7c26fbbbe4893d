/** Tests of logins between peers of different make: at one revision, over HTTP, each with a record of what passed. */
import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { afterAll, beforeAll } from "vitest"
import type { Browser } from "../../../src/interop/auth/browser.ts"
import type { Listening } from "../../../src/interop/auth/loopback.ts"
import { type Exchange, type Record, record } from "../../../src/interop/auth/record.ts"
import { Wire } from "../../../src/interop/wire.ts"
import * as Matrix from "../../../src/matrix.ts"
import { eventually, isKnown, patience } from "./cell.ts"
import { faultAt, type Place } from "./faults.ts"
import { judge } from "./judge.ts"

/** Something that is true of a login. */
export interface Check {
  readonly title: string
  readonly run: (record: Record) => Promise<void>
}

const checkLogin = (place: Place, { run, title }: Check): Promise<void> => {
  const wire = new Wire()
  return judge(faultAt(place, title), wire, () => run(record(wire)))
}

/** Runs the checks of a pair of peers at one revision. */
export const logins = (suite: string, revision: string, checks: ReadonlyArray<Check>): void => {
  describe(`${suite}, ${revision}`, () => {
    const place = { suite, revision, transport: "http" } as const
    Matrix.track(place)
    for (const check of checks) {
      isKnown(suite, check.title)
      it(`${check.title}`, () => checkLogin(place, check))
    }
  })
}

/** Something that listens while the tests of the enclosing file run. */
export const running = <A extends Pick<Listening, "close">>(start: () => Promise<A>): () => A => {
  let value: A | undefined
  beforeAll(async () => {
    value = await start()
  }, patience)
  afterAll(() => value?.close())
  return () => {
    if (value === undefined) throw new Error("it has not started")
    return value
  }
}

const property = (u: unknown, name: string): unknown =>
  typeof u === "object" && u !== null ? Object.getOwnPropertyDescriptor(u, name)?.value : undefined

/** A member of a JSON answer. */
export const member = ({ answer }: Exchange, name: string): unknown => property(answer, name)

/** The last element, which has to be there. */
export const last = <A>(all: ReadonlyArray<A>): A => {
  const value = all.at(-1)
  return value === undefined ? assert.fail("there is none") : value
}

/**
 * Waits until a client has opened the stream of its session: two requests that are refused at once make these clients spend
 * one refresh token twice (field AUT-06).
 */
export const streaming = (record: Record): Promise<void> =>
  eventually("the stream", () => record.to("/mcp").some(({ method, status }) => method === "GET" && status === 200))

/** What a good login by code has to look like, whoever is on the other side (ACL-14, ACL-16, ACL-21, ACL-23). */
export const byCode = (record: Record, { visited }: Browser, resource: string): void => {
  const page = last(visited).searchParams
  const form = last(record.grants("authorization_code"))
  assert.strictEqual(page.get("code_challenge_method"), "S256")
  const challenge = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url")
  assert.strictEqual(page.get("code_challenge"), challenge)
  assert.strictEqual(page.get("resource"), resource)
  assert.strictEqual(form.get("resource"), resource)
  assert.isAtLeast(page.get("state")?.length ?? 0, 22)
  withToken(record, resource)
}

/** The token went to the server with every request after the login, by the header and to nobody else. */
export const withToken = (record: Record, resource: string): void => {
  const { origin, pathname } = new URL(resource)
  const from = record.exchanges.findLastIndex(({ form }) => form.has("grant_type")) + 1
  assert.isNotEmpty(record.exchanges.slice(from))
  for (const { headers, url } of record.exchanges.slice(from)) {
    assert.strictEqual(url.origin, origin)
    assert.strictEqual(url.pathname, pathname)
    assert.match(headers.get("authorization") ?? "", /^(Bearer|DPoP) ./)
  }
  for (const { headers, url } of record.exchanges.filter(({ url }) => url.origin !== origin)) {
    assert.notMatch(headers.get("authorization") ?? "", /^(Bearer|DPoP) /, url.pathname)
  }
}

/** The caller as a server knows it: the client, its scopes, and who it is for, where the server tells. */
export const callerOf = (text: string): {
  readonly client: string
  readonly scopes: ReadonlyArray<string>
  readonly subject: string | undefined
} => {
  const said: unknown = JSON.parse(text)
  const [client, scopes, subject] = Array.isArray(said) ? said : []
  return {
    client: String(client),
    scopes: Array.isArray(scopes) ? scopes.map(String) : [],
    subject: subject === undefined ? undefined : String(subject)
  }
}
