/** An authorization server of another make, `oidc-provider`, on a loopback port, with keys that can be changed. */
import { exportJWK, generateKeyPair, type JWK } from "jose"
import type { RequestListener } from "node:http"
import Provider, { type AdapterFactory, type ClientMetadata, type Configuration, errors } from "oidc-provider"
import { listen } from "./loopback.ts"
import { makeMemory } from "./oidcMemory.ts"

/** How the access tokens of a resource look. */
export type TokenFormat = "jwt" | "opaque"

export interface OidcPeer {
  readonly issuer: string
  /** Makes tokens for a resource known, and the scopes that it has. */
  readonly serve: (resource: string, format: TokenFormat) => void
  /** Signs with a new key from now on. The old one stays in the published set, or goes. */
  readonly rotate: (old: "keep" | "drop") => Promise<void>
  readonly close: () => Promise<void>
}

/** The scopes of every resource. */
export const scopes = ["notes:read", "notes:write"] as const

/** What a client that comes back to the loopback interface is registered with; the port does not count (RFC 8252). */
export const callback = "http://127.0.0.1:33418/callback"

const confidential = (client_id: string, client_secret: string): ClientMetadata => ({
  client_id,
  client_secret,
  grant_types: ["client_credentials"],
  redirect_uris: [],
  response_types: [],
  token_endpoint_auth_method: "client_secret_basic"
})

export const machine = { id: "machine", secret: "s3cret" }
/** With characters that have to be encoded before they go into a header (RFC 6749, 2.3.1). */
export const awkward = { id: "machine:2", secret: "s3cret%+/ &=~" }
export const introspector = { id: "introspector", secret: "look" }

const makeKey = async (): Promise<JWK> => {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true })
  return { ...await exportJWK(privateKey), kid: crypto.randomUUID(), alg: "ES256", use: "sig" }
}

/** Options of one server; each takes what the tests need and nothing more. */
export interface Options {
  /** Whether proofs of possession need a nonce of the server. */
  readonly nonces?: boolean
  /** The public half of the key that the client `signer` proves itself with. */
  readonly signerKey?: JWK
  /** Describes itself as OpenID Connect alone has it, and not as RFC 8414 does. */
  readonly openId?: boolean
  /** Documents that describe clients, by the address that is the id of the client: nothing else is fetched. */
  readonly documents?: Readonly<Record<string, unknown>>
}

const configurationOf = (
  { documents = {}, nonces = false, signerKey }: Options,
  adapter: AdapterFactory,
  keys: ReadonlyArray<JWK>,
  resources: ReadonlyMap<string, TokenFormat>
): Configuration => ({
  adapter,
  clients: [
    confidential(machine.id, machine.secret),
    confidential(awkward.id, awkward.secret),
    confidential(introspector.id, introspector.secret),
    ...(signerKey === undefined ? [] : [{
      ...confidential("signer", ""),
      client_secret: undefined,
      token_endpoint_auth_method: "private_key_jwt" as const,
      token_endpoint_auth_signing_alg: "ES256" as const,
      jwks: { keys: [signerKey] }
    }]),
    {
      client_id: "terminal",
      application_type: "native",
      grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: "none"
    }
  ],
  clientDefaults: { id_token_signed_response_alg: "ES256" },
  cookies: { keys: ["not a secret"], long: { signed: true }, short: { signed: true } },
  enabledJWA: { idTokenSigningAlgValues: ["ES256"] },
  features: {
    clientCredentials: { enabled: true },
    clientIdMetadataDocument: { enabled: Object.keys(documents).length > 0, ack: "draft-02" },
    deviceFlow: {
      enabled: true,
      userCodeInputSource: (ctx, form) => Promise.resolve(void (ctx.body = `<html>${form}</html>`)),
      userCodeConfirmSource: (ctx, form) => Promise.resolve(void (ctx.body = `<html>${form}</html>`)),
      successSource: (ctx) => Promise.resolve(void (ctx.body = "<html>done</html>"))
    },
    dPoP: { enabled: true, nonceSecret: Buffer.alloc(32, 7), requireNonce: () => nonces },
    introspection: { enabled: true, allowedPolicy: (_, client) => client.clientId === introspector.id },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, resource) => {
        const format = resources.get(resource)
        if (format === undefined) throw new errors.InvalidTarget()
        return {
          scope: scopes.join(" "),
          audience: resource,
          accessTokenFormat: format,
          accessTokenTTL: 600,
          jwt: { sign: { alg: "ES256" } }
        }
      }
    },
    revocation: { enabled: true, allowedPolicy: (_, client, token) => token.clientId === client.clientId }
  },
  fetch: (url) => Promise.resolve(Response.json(documents[String(url)] ?? {}, { status: 200 })),
  findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  jwks: { keys: [...keys] },
  // Those who register name the scopes they will ask for, which have to be known without a resource too.
  scopes: ["openid", "offline_access", ...scopes],
  renderError: (ctx, { error, error_description }) => void (ctx.body = `${error}: ${error_description}`),
  revokeGrantPolicy: () => true,
  ttl: {
    AccessToken: 600,
    AuthorizationCode: 60,
    ClientCredentials: 600,
    DeviceCode: 60,
    Grant: 3600,
    IdToken: 600,
    Interaction: 600,
    RefreshToken: 3600,
    Session: 3600
  }
})

/** It warns of being no product, which the tests know. */
const silently = <A>(make: () => A): A => {
  const { info, warn } = console
  console.info = console.warn = () => {}
  try {
    return make()
  } finally {
    Object.assign(console, { info, warn })
  }
}

/** Starts one. A change of its keys is a start with other ones, and with all that it knew. */
export const startOidcPeer = async (options: Options = {}): Promise<OidcPeer> => {
  const resources = new Map<string, TokenFormat>()
  const memory = makeMemory()
  let keys = [await makeKey()]
  let handle: RequestListener = () => {}
  const make = (issuer: string): RequestListener =>
    silently(() => new Provider(issuer, configurationOf(options, memory, keys, resources))).callback()
  const { close, origin: issuer } = await listen((origin) => {
    handle = make(origin)
    return (request, response) =>
      options.openId === true && request.url?.startsWith("/.well-known/oauth-") === true
        ? void response.writeHead(404).end()
        : handle(request, response)
  })
  return {
    issuer,
    serve: (resource, format) => void resources.set(resource, format),
    rotate: async (old) => {
      keys = [await makeKey(), ...(old === "keep" ? keys.slice(0, 1) : [])]
      handle = make(issuer)
    },
    close
  }
}
