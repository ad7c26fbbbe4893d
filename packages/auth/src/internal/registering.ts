/** Finds out who the client is to an authorization server, or makes it known there. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as AuthError from "../AuthError.ts"
import type { AuthorizationServer } from "../AuthorizationServer.ts"
import type * as Credentials from "../Credentials.ts"
import { serverAddresses } from "../Discovery.ts"
import type { ClientIdentity, Request } from "../Grant.ts"
import type { Dynamic, MetadataDocument, Options, Preregistered } from "../Registration.ts"
import { anyIssuer } from "../Registration.ts"
import { identity, methodFor } from "./clientAuthentication.ts"
import { clientIdFault } from "./clientId.ts"
import { isRedirectRefusal, type Purpose, registrationOf, requestBody } from "./dynamicRegistration.ts"
import { shown } from "./metadataSearch.ts"
import { misconfigured } from "./misconfigured.ts"
import { isUnknownClient } from "./oauthError.ts"
import { quoted } from "./quoted.ts"
import { applicationType, redirectFault } from "./redirectUris.ts"

type Known<A> = Effect.Effect<A, AuthError.AuthError>

const required = (issuer: string, detail: string) =>
  AuthError.fail(new AuthError.RegistrationRequired({ issuer, detail }))

const notGiven = "none is configured, and none is given on the spot"

/** Why nobody can have given such an id. */
const clientFault = ({ clientId, issuer }: Preregistered): string | undefined => {
  if (clientId.trim() === "") return `the client id for ${quoted(issuer)} is empty`
  return issuer === anyIssuer || serverAddresses(issuer).length > 0
    ? undefined
    : `the client ${quoted(clientId)} is for the issuer ${quoted(issuer)}, which is no URL without query and fragment`
}

const clientsOf = ({ client = [] }: Options): ReadonlyArray<Preregistered> => "length" in client ? client : [client]

const supportedBy = ({ metadata }: AuthorizationServer) => ({
  methods: metadata.token_endpoint_auth_methods_supported,
  algorithms: metadata.token_endpoint_auth_signing_alg_values_supported
})

const preregistered = (server: AuthorizationServer, client: Preregistered): ClientIdentity => {
  const { authentication, clientId, clientSecret, key, redirectUris = [] } = client
  const supported = supportedBy(server)
  const method = authentication ?? methodFor({ secret: clientSecret !== undefined, key: key !== undefined }, supported)
  const secret = clientSecret === undefined ? {} : { clientSecret }
  return identity({ kind: "preregistered", clientId, ...secret, authentication: method, redirectUris }, key, supported)
}

const described = (
  server: AuthorizationServer,
  document: string | MetadataDocument
): Known<ClientIdentity> => {
  const { key, redirectUris = [], url } = typeof document === "string" ? { url: document } : document
  const fault = clientIdFault(url)
  if (fault !== undefined) {
    return misconfigured(`${quoted(url)}, the address of the client's document, cannot be a client id: ${fault}`)
  }
  const authentication = key === undefined ? "none" : "private_key_jwt"
  return Effect.succeed(
    identity({ kind: "metadata document", clientId: url, authentication, redirectUris }, key, supportedBy(server))
  )
}

/** What a process knows of the issuers that its clients registered with, and no store does. */
interface Memory {
  /** Registrations that no store would keep (field AUT-09). */
  readonly unkept: Map<string, Credentials.Registration>
  /** Issuers at whose page a login came to no end: it may be that they forgot the client, and say so to the person only. */
  readonly doubted: Map<string, true>
}

/** By who made the registrations. */
const memories = new WeakMap<Options, Memory>()

/** How many issuers of a kind are remembered, as it is others that name them. */
const maxIssuers = 16

const memoryOf = (options: Options): Memory => {
  const memory = memories.get(options) ?? { unkept: new Map(), doubted: new Map() }
  memories.set(options, memory)
  return memory
}

const remember = <A>(map: Map<string, A>, issuer: string, value: A): void => {
  map.set(issuer, value)
  for (const oldest of map.keys()) if (map.size > maxIssuers) map.delete(oldest)
}

/** The next login registers the client anew; what was registered stays good for a refresh until then. */
export const doubt = ({ server }: Request, options: Options): Effect.Effect<void> =>
  Effect.sync(() => remember(memoryOf(options).doubted, server.issuer, true))

/** What was registered before and is still good: a secret ends, and then the client is unknown. */
const stored = Effect.fnUntraced(function*({ registrations, server }: Request, options: Options) {
  const registration = memories.get(options)?.unkept.get(server.issuer) ?? (yield* registrations.get)
  if (registration === undefined) return undefined
  const now = yield* Clock.currentTimeMillis
  if (registration.secretExpiresAt !== undefined && registration.secretExpiresAt <= now) return undefined
  return identity(registration, undefined, supportedBy(server))
})

/** The first issuer that a client for any has met. */
const met = new WeakMap<Preregistered, string>()

/** Names that are written down come first. */
const clientFor = (clients: ReadonlyArray<Preregistered>, issuer: string): Preregistered | undefined => {
  const named = clients.find((client) => client.issuer === issuer)
  const open = clients.find((client) => client.issuer === anyIssuer)
  if (named !== undefined || open === undefined) return named
  const first = met.get(open) ?? issuer
  met.set(open, first)
  return first === issuer ? open : undefined
}

/**
 * The client as this authorization server knows it already, `undefined` where it has yet to be registered on the spot. Ids
 * that are for other authorization servers only are an error, unless another way is configured (ACL-13).
 */
export const known = Effect.fnUntraced(function*(
  request: Request,
  options: Options
): Effect.fn.Return<ClientIdentity | undefined, AuthError.AuthError> {
  const { server } = request
  const clients = clientsOf(options)
  const fault = clients.map(clientFault).find((fault) => fault !== undefined)
  if (fault !== undefined) return yield* misconfigured(fault)
  const client = clientFor(clients, server.issuer)
  if (client !== undefined) return preregistered(server, client)
  const { dynamic, metadataDocument } = options
  if (metadataDocument !== undefined && server.metadata.client_id_metadata_document_supported === true) {
    return yield* described(server, metadataDocument)
  }
  const mayRegister = dynamic !== false && (dynamic !== undefined || clients.length === 0)
  const before = mayRegister ? yield* stored(request, options) : undefined
  if (before !== undefined || (mayRegister && server.metadata.registration_endpoint !== undefined)) return before
  if (clients.length === 0) return yield* required(server.issuer, notGiven)
  const detail = "the client ids that are configured are for other authorization servers"
  const configured = clients.map(({ issuer }) => shown(issuer))
  return yield* AuthError.fail(new AuthError.RegistrationRequired({ issuer: server.issuer, detail, configured }))
})

/** Where a login may come back to, in the forms that the listener can be named by; the first is the one to try first. */
export interface Redirects {
  readonly uri: string
  readonly alternatives: ReadonlyArray<string>
}

const isStoreFailure = ({ reason }: AuthError.AuthError): boolean => reason._tag === "StoreFailed"

const attempt = Effect.fnUntraced(function*(
  { endpoint, registrations, server }: Request,
  options: Options,
  dynamic: Dynamic,
  purpose: Purpose,
  type: "native" | "web" | undefined
) {
  const url = server.metadata.registration_endpoint
  if (url === undefined) return yield* required(server.issuer, notGiven)
  const answer = yield* endpoint.json(url, requestBody(server, dynamic, purpose, type))
  const registration = yield* Effect.mapError(
    Effect.fromResult(registrationOf(server, url, answer, purpose.redirectUris)),
    (reason) => new AuthError.AuthError({ reason })
  )
  memoryOf(options).doubted.delete(server.issuer)
  yield* registrations.set(registration).pipe(
    Effect.catchIf(isStoreFailure, () => {
      remember(memoryOf(options).unkept, server.issuer, registration)
      return Effect.logWarning("The registration of the client cannot be kept: it will be made anew by another process")
    })
  )
  return identity(registration, undefined, supportedBy(server))
})

/**
 * Registers the client on the spot and keeps what comes of it (ACL-11). Where the server refuses the redirect URI, it is
 * asked once more: with another form of it, if the listener has one, else as the other type of application (ACL-12).
 */
export const register = Effect.fn("Registration.register")(function*(
  request: Request,
  options: Options,
  purpose: Pick<Purpose, "grantTypes" | "refreshes"> & { readonly redirects?: Redirects | undefined }
): Effect.fn.Return<ClientIdentity, AuthError.AuthError> {
  const dynamic = options.dynamic === false ? undefined : options.dynamic ?? {}
  if (dynamic === undefined) return yield* required(request.server.issuer, "none is configured")
  const { grantTypes, redirects, refreshes } = purpose
  const responseTypes = redirects === undefined ? [] : ["code"]
  const forUri = (uri: string | undefined): Purpose => ({
    grantTypes,
    refreshes,
    responseTypes,
    redirectUris: uri === undefined ? [] : [uri]
  })
  const first = forUri(redirects?.uri)
  return yield* attempt(request, options, dynamic, first, undefined).pipe(
    Effect.catchIf((error) => redirects !== undefined && isRedirectRefusal(error.reason), () => {
      const [other] = redirects?.alternatives ?? []
      const type = dynamic.applicationType ?? applicationType(first.redirectUris)
      return other === undefined
        ? attempt(request, options, dynamic, first, type === "native" ? "web" : "native")
        : attempt(request, options, dynamic, forUri(other), undefined)
    })
  )
})

const forget = ({ registrations, server }: Request, options: Options) =>
  Effect.suspend(() => {
    memories.get(options)?.unkept.delete(server.issuer)
    return registrations.remove
  })

/** A registration that cannot be read keeps nobody from a login where another can be had. */
const knownForLogin = (request: Request, options: Options) =>
  Effect.catchIf(
    known(request, options),
    isStoreFailure,
    (error) =>
      request.server.metadata.registration_endpoint === undefined
        ? Effect.fail(error)
        : Effect.as(Effect.logWarning(`The registration of the client is made anew: ${error.message}`), undefined)
  )

/**
 * Runs a flow with the client as it is known, or without one; once more without, where the server no longer knows the client
 * that it registered before.
 */
export const withKnown = <A, R>(
  request: Request,
  options: Options,
  flow: (client: ClientIdentity | undefined) => Effect.Effect<A, AuthError.AuthError, R>
): Effect.Effect<A, AuthError.AuthError, R> =>
  Effect.flatMap(knownForLogin(request, options), (client) => {
    if (client?.registration.kind !== "dynamic") return flow(client)
    if (memories.get(options)?.doubted.has(request.server.issuer) === true) return flow(undefined)
    return Effect.catchIf(
      flow(client),
      isUnknownClient,
      () => Effect.andThen(forget(request, options), flow(undefined))
    )
  })

/**
 * The client for a refresh or a revocation: nobody is registered for those.
 */
export const existing = (request: Request, options: Options): Effect.Effect<ClientIdentity, AuthError.AuthError> =>
  Effect.flatMap(
    known(request, options),
    (client) =>
      client === undefined ? required(request.server.issuer, "the client is not registered") : Effect.succeed(client)
  )

/** Fails for an address that a login may not come back to. */
export const checkRedirect = (uri: string): Effect.Effect<void, AuthError.AuthError> => {
  const fault = redirectFault(uri)
  return fault === undefined ? Effect.void : misconfigured(`a login cannot come back to ${uri}: ${fault}`)
}
