/** Who the clients are: known beforehand, registered, or described by a document of their own (AAS-04). */
import { AuthenticationMethod } from "@mcpfx/auth/Credentials"
import { CurrentOutboundGuard } from "@mcpfx/auth/OutboundGuard"
import * as Redirects from "@mcpfx/transport/Redirects"
import * as ByteSize from "effect/ByteSize"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { JSONWebKeySet } from "jose"
import { refuse, type Refused } from "./answer.ts"
import type { Client } from "./model.ts"
import type { State } from "./state.ts"

const Texts = Schema.Array(Schema.String)
const KeySet = Schema.Struct({ keys: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)) })

export const isKeySet = (value: unknown): value is JSONWebKeySet => Schema.is(KeySet)(value)

/** What a client says of itself (RFC 7591, 2), as far as it matters here. */
export const Described = Schema.Struct({
  redirect_uris: Schema.optionalKey(Texts),
  client_name: Schema.optionalKey(Schema.String),
  token_endpoint_auth_method: Schema.optionalKey(AuthenticationMethod),
  grant_types: Schema.optionalKey(Texts),
  response_types: Schema.optionalKey(Texts),
  scope: Schema.optionalKey(Schema.String),
  application_type: Schema.optionalKey(Schema.Literals(["native", "web"])),
  jwks: Schema.optionalKey(Schema.declare(isKeySet)),
  jwks_uri: Schema.optionalKey(Schema.String)
})

const Document = Schema.Struct({
  ...Described.fields,
  client_id: Schema.String,
  redirect_uris: Schema.NonEmptyArray(Schema.String)
})
const decodeDocument = Schema.decodeUnknownEffect(Document)

/** The scopes that a client names; `undefined` for all, where it names none. */
export const scopesOf = (scope: string | undefined): ReadonlyArray<string> | undefined => {
  const scopes = (scope ?? "").split(" ").filter((scope) => scope !== "")
  return scopes.length === 0 ? undefined : scopes
}

/** How long a document is remembered, in milliseconds. */
const remembered = 300_000

const maxDocument = ByteSize.kibibytes(64)

/** An id that is the address of a document: https, with a path, without a fragment, credentials or dot segments. */
const isDocumentId = (clientId: string): boolean => {
  const url = URL.parse(clientId)
  return url !== null && url.protocol === "https:" && url.pathname !== "/" && url.hash === "" && url.username === "" &&
    url.password === "" && url.href === clientId
}

const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::\d+)?(?=[/?#]|$)/

/** Whether an address is one of http on the loopback interface. */
export const isLoopback = (uri: string): boolean => loopback.test(uri)

/** JSON from an address that somebody else named: bounded in size and time, and without redirects. */
export const fetchJson = (state: State, url: string): Effect.Effect<unknown, string> => {
  const { documents, outbound } = state.options
  if (documents !== undefined && Object.hasOwn(documents, url)) return Effect.succeed(documents[url])
  if (outbound === undefined) return Effect.fail("there is no such document")
  return Effect.gen(function*() {
    const { guard } = yield* CurrentOutboundGuard
    const client = guard(Redirects.notFollowed(outbound), { loopback: isLoopback(state.issuer) })
    const response = yield* client.execute(HttpClientRequest.get(url, { headers: { accept: "application/json" } }))
    return response.status === 200 ? yield* response.json : yield* Effect.fail({ message: `status ${response.status}` })
  }).pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, maxDocument),
    Effect.timeout("10 seconds"),
    Effect.mapError(({ message }) => message)
  )
}

const fromDocument = (state: State, clientId: string): Effect.Effect<Client, Refused> =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const known = state.documents.get(clientId)
    if (known !== undefined && now < known.until) return known.client
    const no = (why: string) => refuse("invalid_client", `the metadata document of the client is no good: ${why}`, 401)
    const json = yield* Effect.catch(fetchJson(state, clientId), no)
    const document = yield* Effect.catch(decodeDocument(json), (error) => no(error.message))
    if (document.client_id !== clientId) return yield* no("its client_id is not its address")
    const method = document.token_endpoint_auth_method ?? "none"
    if (
      method === "client_secret_basic" || method === "client_secret_post" ||
      Predicate.hasProperty(json, "client_secret")
    ) {
      return yield* no("a public document cannot hold a secret")
    }
    const client: Client = {
      kind: "metadata document",
      clientId,
      clientSecret: undefined,
      authentication: [method],
      jwks: document.jwks,
      jwksUri: document.jwks_uri,
      redirectUris: document.redirect_uris,
      grantTypes: document.grant_types ?? ["authorization_code"],
      scopes: scopesOf(document.scope),
      name: document.client_name,
      audiences: undefined
    }
    state.documents.set(clientId, { client, until: now + remembered })
    return client
  })

/** A client by its id. */
export const find = (state: State, clientId: string | undefined): Effect.Effect<Client, Refused> => {
  if (clientId === undefined) return refuse("invalid_client", "there is no client_id", 401)
  const client = state.clients.get(clientId)
  if (client !== undefined) return Effect.succeed(client)
  if (state.options.metadataDocuments !== false && isDocumentId(clientId)) return fromDocument(state, clientId)
  return refuse("invalid_client", "the client is not known", 401)
}

const withoutPort = (uri: string): string => uri.replace(loopback, "http://$1")

/** To the letter, save the port on the loopback interface (AAS-01; RFC 8252, 7.3). */
export const matches = (registered: string, used: string): boolean =>
  registered === used || (isLoopback(registered) && isLoopback(used) && withoutPort(registered) === withoutPort(used))

/** Whether a client may use a grant. */
export const mayUse = (client: Client, grant: string): boolean =>
  client.grantTypes === undefined || client.grantTypes.includes(grant)
