import { type AuthError, AuthorizationCode, ClientCredentials, OAuthClient, type UserAgent } from "@mcpfx/auth"
import { type Layer, Redacted } from "effect"
import type { HttpClient } from "effect/http"
import { describe, expect, test } from "tstyche"

const url = "https://mcp.example.com/mcp"
const client = { issuer: "https://login.example.com", clientId: "batch", clientSecret: Redacted.make("secret") }

describe("OAuthClient", () => {
  test("needs somebody to ask only where the grant asks", () => {
    expect(OAuthClient.layer({ url, grant: AuthorizationCode.grant() })).type.toBe<
      Layer.Layer<
        OAuthClient.OAuthClient | HttpClient.HttpClient,
        AuthError.AuthError,
        HttpClient.HttpClient | UserAgent.UserAgent
      >
    >()
    expect(OAuthClient.layer({ url, grant: ClientCredentials.grant({ client }) })).type.toBe<
      Layer.Layer<OAuthClient.OAuthClient | HttpClient.HttpClient, AuthError.AuthError, HttpClient.HttpClient>
    >()
  })
})
