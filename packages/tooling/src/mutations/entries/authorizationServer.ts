import type { Mutation } from "../mutation.ts"

const folder = "testing/src/internal/authorization"
const login = { tests: ["testing/test/authorization/login.test.ts"] }
const tokens = { tests: ["testing/test/authorization/tokens.test.ts"] }
const assertions = {
  file: `${folder}/jwtBearerGrant.ts`,
  tests: ["testing/test/authorization/assertions.test.ts"]
}
const page = { ...login, file: `${folder}/consentPage.ts` }
const clients = { ...login, file: `${folder}/clients.ts` }

/** What breaks the authorization server of tests: it would no longer find out what is wrong with clients. */
export const authorizationServer: ReadonlyArray<Mutation> = [
  {
    ids: ["AAS-01"],
    ...clients,
    find: "registered === used ||",
    replace: "used.startsWith(registered) ||"
  },
  {
    ids: ["AAS-01"],
    ...login,
    file: `${folder}/authorize.ts`,
    find: "if (parameters.get(\"code_challenge_method\") !== \"S256\")",
    replace: "if (false)"
  },
  {
    ids: ["AAS-01"],
    ...tokens,
    file: `${folder}/codeGrant.ts`,
    find: "code.family.revoked = true",
    replace: ""
  },
  {
    ids: ["AAS-01"],
    ...tokens,
    file: `${folder}/refreshGrant.ts`,
    find: "if (rotates) token.used = true",
    replace: ""
  },
  {
    ids: ["ACL-30"],
    ...tokens,
    file: `${folder}/token.ts`,
    find: "if (!mayUse(client, grant))",
    replace: "if (false)"
  },
  {
    ids: ["AAS-02"],
    ...login,
    file: `${folder}/metadata.ts`,
    find: "code_challenge_methods_supported: [\"S256\"],",
    replace: ""
  },
  {
    ids: ["AAS-03"],
    ...login,
    file: `${folder}/authorize.ts`,
    find: "iss: state.options.iss === false ? undefined : state.issuer",
    replace: "iss: state.options.iss === false || \"error\" in parameters ? undefined : state.issuer"
  },
  {
    ids: ["AAS-04"],
    ...clients,
    find: "if (document.client_id !== clientId)",
    replace: "if (false)"
  },
  {
    ids: ["AAS-04"],
    ...clients,
    find: "const client = guard(Redirects.notFollowed(outbound), { loopback: isLoopback(state.issuer) })",
    replace: "const client = outbound"
  },
  {
    ids: ["AAS-04", "SEC-02"],
    ...page,
    find: "<strong>${escape(originOf(redirectUri))}</strong>",
    replace: ""
  },
  {
    ids: ["SEC-01"],
    ...login,
    file: `${folder}/authorize.ts`,
    find: "if (state.consent === \"automatic\")",
    replace: "if (state.consent === \"automatic\" || [...state.codes.values()].length > 0)"
  },
  {
    ids: ["SEC-02"],
    ...page,
    find: "\"frame-ancestors 'none'\",",
    replace: ""
  },
  {
    ids: ["SEC-02"],
    ...page,
    find: "; HttpOnly; SameSite=Strict",
    replace: ""
  },
  {
    ids: ["SEC-02"],
    ...login,
    file: `${folder}/consent.ts`,
    find: "if (foreign || browser === undefined || !equal(browser, pending.browser)) {",
    replace: "if (foreign) {"
  },
  {
    ids: ["SEC-02"],
    ...login,
    file: `${folder}/consent.ts`,
    find: "state.consents.delete(csrf)",
    replace: ""
  },
  {
    ids: ["OCC-01"],
    ...tokens,
    file: `${folder}/clientAuthentication.ts`,
    find: "if (state.jtis.has(id)) return yield* no(\"the assertion was used before\")",
    replace: ""
  },
  {
    ids: ["EMA-01"],
    ...assertions,
    file: `${folder}/exchangeGrant.ts`,
    find: "audience: client.clientId,",
    replace: ""
  },
  {
    ids: ["EMA-02"],
    ...assertions,
    find: "if (state.jtis.has(id)) return yield* no(\"the assertion was used before\")",
    replace: ""
  },
  {
    ids: ["EMA-02"],
    ...assertions,
    find: "...(jag ? { typ: idJagType } : {})",
    replace: ""
  },
  {
    ids: ["EMA-02"],
    ...assertions,
    find: "payload[\"client_id\"] !== client.clientId",
    replace: "payload[\"client_id\"] === undefined"
  },
  {
    ids: ["EMA-02"],
    ...assertions,
    find: "within(textsOf(payload[\"resource\"]), parameters.all(\"resource\"))",
    replace: "within([], parameters.all(\"resource\"))"
  }
]
