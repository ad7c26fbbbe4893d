import type { Mutation } from "../mutation.ts"

const client = { tests: ["auth/test/OAuthClient.test.ts"] }
const discovery = { file: "auth/src/internal/discover.ts", tests: ["auth/test/Discovery.test.ts"] }
const addresses = { ...discovery, file: "auth/src/Discovery.ts" }
const safe = { tests: ["auth/test/OAuthClientSafe.test.ts"] }
const scopes = { ...client, file: "auth/src/internal/scopeChoice.ts" }
const vault = { file: "auth/src/internal/vault.ts", tests: ["auth/test/OAuthClientSafe.test.ts"] }
const outbound = { file: "auth/src/internal/outbound.ts", tests: ["auth/test/Outbound.test.ts"] }

/** What breaks clients that log in: where they look, whom they believe, to whom they send what, and what they keep. */
export const oauthClient: ReadonlyArray<Mutation> = [
  {
    ids: ["ACL-01", "ACL-02"],
    file: "auth/src/internal/discover.ts",
    find: "Discovery.resourceAddresses(url, hint.resourceMetadata)",
    replace: "[]",
    tests: ["auth/test/OAuthClient.test.ts", "auth/test/OAuthClientLogin.test.ts"]
  },
  {
    ids: ["ACL-02"],
    ...addresses,
    find: "address === null ? known : [address.href, ...known]",
    replace: "address === null ? known : [...known, address.href]"
  },
  {
    ids: ["ACL-04"],
    ...addresses,
    find: "`${origin}${path}${WellKnown.openIdConfiguration}`",
    replace: ""
  },
  {
    ids: ["ACL-05"],
    ...discovery,
    file: "auth/src/internal/metadataSearch.ts",
    find: "if (issuers.includes(found) ||",
    replace: "if (found.startsWith(issuer) ||"
  },
  {
    ids: ["ACL-06"],
    ...addresses,
    find: "token_endpoint: `${origin}/token`,",
    replace: ""
  },
  {
    ids: ["ACL-06"],
    ...discovery,
    find: "{ [McpHeaders.names.protocolVersion]: protocolVersion }",
    replace: "undefined"
  },
  {
    ids: ["ACL-07", "ACL-13"],
    ...vault,
    find: "keyOf(\"registration\", issuer, grant)",
    replace: "keyOf(\"registration\", grant)"
  },
  {
    ids: ["ACL-07", "ACL-13"],
    ...vault,
    find: "entry(\"tokens\", keyOf(\"tokens\", issuer, resource), codecs.tokens)",
    replace: "entry(\"tokens\", keyOf(\"tokens\", resource), codecs.tokens)"
  },
  {
    ids: ["ACL-16"],
    ...client,
    file: "auth/src/internal/refresh.ts",
    find: "refresh_token: refreshToken, resource }",
    replace: "refresh_token: refreshToken }"
  },
  {
    ids: ["ACL-17"],
    ...addresses,
    find: "server.pathname === \"/\" ? server.origin : server.origin + server.pathname",
    replace: "server.origin + server.pathname"
  },
  {
    ids: ["ACL-23"],
    ...client,
    file: "auth/src/Credentials.ts",
    find: "`${tokens.tokenType} ${Redacted.value(tokens.accessToken)}`",
    replace: "Redacted.value(tokens.accessToken)"
  },
  {
    ids: ["ACL-24"],
    ...client,
    file: "auth/src/internal/attach.ts",
    find: "if (url.startsWith(origin) && afterHost.has(url[origin.length])) return true",
    replace: "if (url.startsWith(origin)) return true"
  },
  {
    ids: ["ACL-24"],
    file: "auth/src/internal/keeper.ts",
    find: "binding !== undefined && Discovery.covers(binding.resource, url)",
    replace: "binding !== undefined",
    tests: ["auth/test/OAuthClientLogin.test.ts"]
  },
  {
    ids: ["ACL-25"],
    file: "auth/src/TokenStore.ts",
    find: "get: (key) => self.get(prefix + key),",
    replace: "get: (key) => self.get(key),",
    tests: ["auth/test/TokenStore.test.ts"]
  },
  {
    ids: ["ACL-25"],
    file: "node/src/internal/credentialFiles.ts",
    find: "const fileMode = 0o600",
    replace: "const fileMode = 0o640",
    tests: ["node/test/TokenStoreFile.test.ts"]
  },
  {
    ids: ["ACL-26"],
    ...scopes,
    find: "challenged.length > 0 ? challenged : configured ?? supported",
    replace: "configured ?? supported"
  },
  {
    ids: ["ACL-28"],
    file: "auth/src/internal/scopeChoice.ts",
    find: "union(earlier, base, configured)",
    replace: "union(base, configured)",
    tests: ["auth/test/OAuthClientLimits.test.ts"]
  },
  {
    ids: ["ACL-29"],
    ...scopes,
    find: "scopes !== undefined && listed?.includes(offlineAccess) === true",
    replace: "listed?.includes(offlineAccess) === true"
  },
  {
    ids: ["ACL-29"],
    ...safe,
    file: "auth/src/internal/tokenAnswer.ts",
    find: "if (accessToken === undefined) return",
    replace: "if (accessToken === undefined || textOf(answer, \"refresh_token\") === undefined) return"
  },
  {
    ids: ["ACL-29", "ACL-30"],
    ...safe,
    file: "auth/src/internal/outbound.ts",
    find: "Effect.map((answer) => () => answer),",
    replace: "Effect.tap((answer) => Effect.logDebug(answer.body)), Effect.map((answer) => () => answer),"
  },
  {
    ids: ["ACL-30"],
    ...safe,
    file: "auth/src/internal/outbound.ts",
    find: "if (to.origin !== from.origin) return",
    replace: "if (false) return"
  },
  {
    ids: ["ACL-30"],
    file: "auth/src/internal/refresh.ts",
    find: "if (client === undefined || (clientId !== undefined && clientId !== client.registration.clientId))",
    replace: "if (client === undefined)",
    tests: ["auth/test/OAuthClientRefresh.test.ts"]
  },
  {
    ids: ["SEC-05"],
    ...outbound,
    find: "this.client = options.guard.guard(",
    replace: "this.client = ((client: typeof options.client) => client)("
  },
  {
    ids: ["SEC-05"],
    file: "auth/src/internal/addresses.ts",
    find: "[\"169.254.0.0\", 16, \"link-local\"],",
    replace: "",
    tests: ["auth/test/OutboundGuard.test.ts", "auth/test/laws/OutboundGuard.test.ts"]
  },
  {
    ids: ["SEC-05"],
    file: "auth/src/internal/outbound.ts",
    find: "if (to.origin !== from.origin) return",
    replace: "if (false) return",
    tests: ["auth/test/OutboundRedirects.test.ts"]
  },
  {
    ids: ["SEC-05"],
    file: "node/src/internal/pinnedLookup.ts",
    find: "if (!options.allows(kind) && !options.isOpen(hostname)) {",
    replace: "if (false) {",
    tests: ["node/test/OutboundGuardNode.test.ts"]
  }
]
