/** A login through an authorization server that registers clients, and all that it saw. */
import { AuthorizationCode, type AuthorizationServer, type Credentials } from "@mcpfx/auth"
import { Effect } from "effect"
import { agrees, browser, type Options as BrowserOptions, type Person, redirectUri } from "./browser.ts"
import { type Answer, type Asked, good, issuer, provider, type Reply, requestTo, server } from "./provider.ts"

export const registered = (members: object = {}): Reply => ({
  status: 201,
  body: { client_id: "dynamic-1", ...members }
})

export interface Setup {
  readonly options?: AuthorizationCode.Options
  readonly server?: AuthorizationServer.AuthorizationServer
  readonly register?: Answer
  readonly token?: Answer
  readonly browser?: BrowserOptions
  readonly person?: Person
  readonly kept?: Credentials.Registration
}

export const documentOf = ({ body }: Asked): Record<string, unknown> => JSON.parse(body)

export const setUp = (setup: Setup = {}) => {
  const counts = { register: 0, token: 0 }
  const as = provider((asked) => {
    const path = new URL(asked.url).pathname
    return path === "/register"
      ? (setup.register ?? (() => registered()))(asked, ++counts.register)
      : (setup.token ?? (() => good))(asked, ++counts.token)
  })
  const person = browser(setup.person ?? agrees(issuer), setup.browser)
  const { kept, request } = requestTo(as.endpoint(), { server: setup.server ?? server() })
  kept.registration = setup.kept
  const grant = AuthorizationCode.grant(setup.options)
  return {
    person,
    kept,
    request,
    grant,
    documents: () => as.at("/register").map(documentOf),
    forms: () => as.at("/token"),
    obtain: grant.obtain(request).pipe(Effect.provide(person.layer))
  }
}

export const refused = (setup: Setup) => Effect.map(Effect.flip(setUp(setup).obtain), ({ reason }) => reason)

export const dynamic = (more: Partial<Credentials.Registration> = {}): Credentials.Registration => ({
  kind: "dynamic",
  clientId: "before",
  authentication: "none",
  redirectUris: [redirectUri],
  ...more
})

export const document = "https://app.example.com/client.json"
export const cimd = server({ client_id_metadata_document_supported: true })
const { registration_endpoint: _, ...closed } = server().metadata
export const withoutDcr = { issuer, found: "resource" as const, metadata: closed }

export const clientIdOf = (setup: Setup) => {
  const run = setUp(setup)
  return Effect.map(run.obtain, ({ clientId }) => clientId)
}
