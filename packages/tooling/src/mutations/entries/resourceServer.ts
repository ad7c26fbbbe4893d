import type { Mutation } from "../mutation.ts"

const gate = { file: "auth/src/internal/gate.ts", tests: ["auth/test/ResourceServer.test.ts"] }
const challenges = { ...gate, file: "auth/src/internal/challenges.ts" }
const document = { file: "auth/src/ProtectedResource.ts", tests: ["auth/test/ProtectedResource.test.ts"] }
const introspection = {
  file: "auth/src/internal/introspector.ts",
  tests: ["auth/test/TokenVerifierIntrospection.test.ts"]
}
const claims = {
  file: "auth/src/internal/claims.ts",
  tests: ["auth/test/TokenVerifierJwt.test.ts", "auth/test/TokenVerifierIntrospection.test.ts"]
}
const fronting = { file: "auth/src/internal/fronting.ts", tests: ["auth/test/LegacyAuthorization.test.ts"] }

/** What breaks servers that want tokens: who comes in, what the others hear, and what the server says of itself. */
export const resourceServer: ReadonlyArray<Mutation> = [
  {
    ids: ["ARS-01"],
    ...gate,
    find: "if (!this.options.optional) {",
    replace: "if (true) {"
  },
  {
    ids: ["ARS-02"],
    ...document,
    find: "authorization_servers: authorizationServers,",
    replace: "authorization_servers: [],"
  },
  {
    ids: ["ARS-03"],
    ...challenges,
    find: "[[\"resource_metadata\", resource.metadataUrl], [\"scope\", scope]]",
    replace: "[[\"scope\", scope]]"
  },
  {
    ids: ["ARS-05"],
    ...challenges,
    find: "[[\"resource_metadata\", resource.metadataUrl], [\"scope\", scope]]",
    replace: "[[\"resource_metadata\", resource.metadataUrl]]"
  },
  {
    ids: ["ARS-04"],
    ...document,
    find: "if (own !== \"\" && options.root !== false)",
    replace: "if (false)"
  },
  {
    ids: ["ARS-06"],
    ...claims,
    find: "if (typeof times === \"string\") return times",
    replace: ""
  },
  {
    ids: ["ARS-06"],
    ...introspection,
    find: "if (member(claims, \"active\") !== true)",
    replace: "if (false)"
  },
  {
    ids: ["ARS-06"],
    ...gate,
    find: "return boundTo !== undefined || mode === \"require\" ? misbound",
    replace: "return mode === \"require\" ? misbound"
  },
  {
    ids: ["ARS-06", "ACL-23"],
    ...gate,
    file: "auth/src/internal/presented.ts",
    find: "if (token.includes(\",\") || inQuery.test(url)) return several",
    replace: ""
  },
  {
    ids: ["ARS-07", "SEC-04"],
    ...claims,
    find: "names.some((known) => isFor(audience, known))",
    replace: "audience.length > 0"
  },
  {
    ids: ["ARS-07"],
    ...gate,
    file: "auth/src/internal/resource.ts",
    find: "if (host === undefined || !loopback.test(host)) return undefined",
    replace: "if (host === undefined) return undefined"
  },
  {
    ids: ["ARS-08"],
    ...gate,
    find: "[\"authorization\", \"dpop\"]",
    replace: "[\"dpop\"]"
  },
  {
    ids: ["ARS-09", "ARS-10"],
    ...gate,
    find: "this.options.scopes.some((scope) => !principal.scopes.includes(scope))",
    replace: "this.options.scopes.every((scope) => !principal.scopes.includes(scope))"
  },
  {
    ids: ["ARS-09", "ARS-10"],
    file: "server/src/internal/admission.ts",
    find: "return entry.scopes.some((scope) => !scopes.includes(scope))",
    replace: "return false",
    tests: ["server/test/EntryScopes.test.ts", "server/test/Modern.test.ts"]
  },
  {
    ids: ["ARS-10", "SEC-12"],
    ...document,
    file: "auth/src/internal/scopeRules.ts",
    find: "filter((scope) => scope !== offlineAccess)",
    replace: "filter(() => true)"
  },
  {
    ids: ["SEC-11"],
    ...gate,
    find: "if (!this.options.optional) {",
    replace: "if (!this.options.optional && !resource.url.startsWith(\"http:\")) {"
  },
  {
    ids: ["ARS-13"],
    ...fronting,
    find: "issuer: origin,",
    replace: "issuer: metadata.issuer,"
  },
  {
    ids: ["ARS-13", "ARS-07"],
    ...fronting,
    find: "if (!parameters.has(\"resource\")) parameters.set(\"resource\", this.options.resource)",
    replace: ""
  },
  {
    ids: ["ARS-13"],
    ...fronting,
    find: "if (endpoint === undefined || !isAddress(endpoint)) return notFound",
    replace: "if (endpoint === undefined) return notFound"
  },
  {
    ids: ["SEC-01"],
    ...fronting,
    find: "if (!target.searchParams.has(\"resource\")) target.searchParams.set(\"resource\", this.options.resource)",
    replace: "target.searchParams.set(\"client_id\", \"lent\")"
  }
]
