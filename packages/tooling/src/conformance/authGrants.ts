/** How the client under test logs in, by the name of the scenario; what the suite arranged beforehand is in its context. */
import {
  AuthorizationCode,
  ClientCredentials,
  Dpop,
  EnterpriseManaged,
  type Grant,
  Registration,
  type UserAgent,
  WorkloadIdentity
} from "@mcpfx/auth"
import { Effect, Schema } from "effect"

/** The client's own document; nobody fetches it. */
const metadataDocument = "https://conformance-test.local/client-metadata.json"

const secret = Schema.RedactedFromValue(Schema.String)

/** What the suite tells in `MCP_CONFORMANCE_CONTEXT`, decoded by what a scenario needs of it. */
const context = <A>(schema: Schema.ConstraintDecoder<A>): Effect.Effect<A, Schema.SchemaError> =>
  Schema.decodeUnknownEffect(Schema.fromJsonString(schema))(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}")

const Preregistered = Schema.Struct({ client_id: Schema.String, client_secret: secret })

const preregistered = (
  { client_id: clientId, client_secret: clientSecret }: typeof Preregistered.Type
): Registration.Preregistered => ({ issuer: Registration.anyIssuer, clientId, clientSecret })

/** What a scenario logs in with. */
export interface Login {
  readonly grant: Grant.Grant<UserAgent.UserAgent>
  readonly dpop?: Dpop.Dpop
}

type Plan = Effect.Effect<Login, unknown>

const registering = { metadataDocument, dynamic: { clientName: "mcpfx-conformance-client" } }

/** A person logs in, at whatever authorization server there is. */
const byCode: Plan = Effect.succeed({ grant: AuthorizationCode.grant(registering) })

const withProofs: Plan = Effect.map(Dpop.make(), (dpop) => ({ grant: AuthorizationCode.grant(registering), dpop }))

const known: Plan = Effect.map(context(Preregistered), (client) => ({
  grant: AuthorizationCode.grant({ client: preregistered(client) })
}))

const withSecret: Plan = Effect.map(context(Preregistered), (client) => ({
  grant: ClientCredentials.grant({ client: preregistered(client) })
}))

const withKey: Plan = Effect.map(
  context(Schema.Struct({ client_id: Schema.String, private_key_pem: secret, signing_algorithm: Schema.String })),
  ({ client_id: clientId, private_key_pem: key, signing_algorithm: algorithm }) => ({
    grant: ClientCredentials.grant({ client: { issuer: Registration.anyIssuer, clientId, key: { key, algorithm } } })
  })
)

const atCompany: Plan = Effect.map(
  context(Schema.Struct({
    ...Preregistered.fields,
    idp_client_id: Schema.String,
    idp_id_token: secret,
    idp_issuer: Schema.String,
    idp_token_endpoint: Schema.String
  })),
  (told) => ({
    grant: EnterpriseManaged.grant({
      client: preregistered(told),
      identityProvider: {
        issuer: told.idp_issuer,
        tokenEndpoint: told.idp_token_endpoint,
        clientId: told.idp_client_id
      },
      identity: () => Effect.succeed(told.idp_id_token)
    })
  })
)

const onPlatform: Plan = Effect.map(
  context(Schema.Struct({ client_id: Schema.String, valid_jwt: secret })),
  ({ client_id: clientId, valid_jwt: assertion }) => ({
    grant: WorkloadIdentity.grant({
      assertion: () => Effect.succeed(assertion),
      client: { issuer: Registration.anyIssuer, clientId }
    })
  })
)

const plans: Readonly<Record<string, Plan | undefined>> = {
  "auth/pre-registration": known,
  "auth/client-credentials-basic": withSecret,
  "auth/client-credentials-jwt": withKey,
  "auth/enterprise-managed-authorization": atCompany,
  "auth/cross-app-access-complete-flow": atCompany,
  "auth/wif-jwt-bearer": onPlatform,
  "auth/dpop": withProofs,
  "auth/dpop-nonce": withProofs
}

/** How to log in. */
export const loginFor = (scenario: string): Plan => plans[scenario] ?? byCode
