import type { Mutation } from "../mutation.ts"

const login = { tests: ["auth/test/AuthorizationCode.test.ts"] }
const code = { ...login, file: "auth/src/AuthorizationCode.ts" }
const request = { ...login, file: "auth/src/internal/authorizationRequest.ts" }
const answer = { ...login, file: "auth/src/internal/authorizationAnswer.ts" }
const registration = {
  file: "auth/src/internal/dynamicRegistration.ts",
  tests: ["auth/test/Registration.test.ts"]
}
const enterprise = { file: "auth/src/EnterpriseManaged.ts", tests: ["auth/test/assertions.test.ts"] }

/** What breaks the ways to tokens: what is asked for, whose answer is taken, and who the client says that it is. */
export const grants: ReadonlyArray<Mutation> = [
  {
    ids: ["ACL-08"],
    file: "auth/src/internal/registering.ts",
    find: "server.metadata.client_id_metadata_document_supported === true",
    replace: "false",
    tests: ["auth/test/Registration.test.ts"]
  },
  {
    ids: ["ACL-09"],
    file: "auth/src/internal/clientId.ts",
    find: "if (path === \"/\") return \"it has no path\"",
    replace: "",
    tests: ["auth/test/RegistrationKept.test.ts"]
  },
  {
    ids: ["ACL-09"],
    file: "auth/src/Registration.ts",
    find: "redirect_uris: redirectUris,",
    replace: "",
    tests: ["auth/test/RegistrationKept.test.ts"]
  },
  {
    ids: ["ACL-11", "ACL-12"],
    ...registration,
    find: ",\n    application_type: type",
    replace: ""
  },
  {
    ids: ["ACL-12"],
    ...registration,
    find: "reason._tag === \"RegistrationRefused\" &&",
    replace: "reason._tag === \"BadAnswer\" &&"
  },
  {
    ids: ["ACL-13"],
    file: "auth/src/internal/registering.ts",
    find: "clients.find((client) => client.issuer === issuer)",
    replace: "clients[0]",
    tests: ["auth/test/Registration.test.ts"]
  },
  {
    ids: ["ACL-14"],
    ...code,
    find: "code_challenge_method: \"S256\",",
    replace: "code_challenge_method: \"plain\","
  },
  {
    ids: ["ACL-14"],
    ...request,
    find: "if (methods === undefined && found !== \"resource\") return undefined",
    replace: "if (methods === undefined) return undefined"
  },
  {
    ids: ["ACL-16"],
    ...code,
    find: "code_verifier: verifier,\n        resource: request.resource",
    replace: "code_verifier: verifier"
  },
  {
    ids: ["ACL-16"],
    ...request,
    find: "Object.entries({ ...parameters, resource })",
    replace: "Object.entries(parameters)"
  },
  {
    ids: ["ACL-18", "ACL-19"],
    ...answer,
    find: "if (iss !== undefined && iss !== issuer)",
    replace: "if (false)"
  },
  {
    ids: ["ACL-19"],
    ...answer,
    find: "if (iss !== undefined && iss !== issuer)",
    replace: "if (iss !== undefined && new URL(iss).href !== new URL(issuer).href)"
  },
  {
    ids: ["ACL-19"],
    ...answer,
    find: "if (iss === undefined && metadata.authorization_response_iss_parameter_supported === true)",
    replace: "if (false)"
  },
  {
    ids: ["ACL-21"],
    ...answer,
    find: "if (!sameText(returned, state))",
    replace: "if (false)"
  },
  {
    ids: ["ACL-22"],
    ...registration,
    find: "if (isElsewhere(members, redirectUris)) {",
    replace: "if (false) {"
  },
  {
    ids: ["ACL-29"],
    ...registration,
    find: "? [...grantTypes, \"refresh_token\"]",
    replace: "? grantTypes"
  },
  {
    ids: ["ACL-30"],
    ...answer,
    find: "if (more.length > 0) return rejected(name, \"repeated\")",
    replace: ""
  },
  {
    ids: ["OCC-01"],
    file: "auth/src/ClientCredentials.ts",
    find: "grant_type: \"client_credentials\", resource, scope",
    replace: "grant_type: \"client_credentials\", scope",
    tests: ["auth/test/ClientCredentials.test.ts"]
  },
  {
    ids: ["OCC-01"],
    file: "auth/src/internal/clientAuthentication.ts",
    find: ".setAudience(issuer)",
    replace: "",
    tests: ["auth/test/clientAuthentication.test.ts"]
  },
  {
    ids: ["EMA-01"],
    ...enterprise,
    find: "audience: server.issuer,",
    replace: "audience: resource,"
  },
  {
    ids: ["EMA-01"],
    ...enterprise,
    find: "if (assertion === undefined || textOf(answer, \"issued_token_type\") !== tokenType(\"id-jag\")) {",
    replace: "if (assertion === undefined) {"
  },
  {
    ids: ["EMA-03"],
    ...enterprise,
    find: "if (isSupported(server) === false) {",
    replace: "if (false) {"
  }
]
