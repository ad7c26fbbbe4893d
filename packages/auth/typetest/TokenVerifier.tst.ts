import { type AuthError, TokenVerifier, TokenVerifierIntrospection, TokenVerifierJwt } from "@mcpfx/auth"
import { type Layer, Redacted } from "effect"
import type { HttpClient } from "effect/http"
import { describe, expect, test } from "tstyche"

const issuer = "https://login.example.com"

describe("verifiers", () => {
  test("need an HTTP client where they ask somebody, and nothing elsewhere", () => {
    expect(TokenVerifierJwt.layer({ issuer })).type.toBe<
      Layer.Layer<TokenVerifier.TokenVerifier, AuthError.AuthError, HttpClient.HttpClient>
    >()
    expect(
      TokenVerifierIntrospection.layer({ issuer, client: { method: "bearer", token: Redacted.make("secret") } })
    ).type.toBe<Layer.Layer<TokenVerifier.TokenVerifier, AuthError.AuthError, HttpClient.HttpClient>>()
    expect(TokenVerifierJwt.layerKeys({ issuer, secret: Redacted.make("secret") })).type.toBe<
      Layer.Layer<TokenVerifier.TokenVerifier, AuthError.AuthError>
    >()
    expect(TokenVerifier.layerStatic({ tokens: {} })).type.toBe<
      Layer.Layer<TokenVerifier.TokenVerifier, AuthError.AuthError>
    >()
  })

  test("take keys or a secret, not both and not neither", () => {
    expect(TokenVerifierJwt.layerKeys).type.not.toBeCallableWith({ issuer })
    expect(TokenVerifierJwt.layerKeys).type.not.toBeCallableWith({ issuer, keys: [], secret: Redacted.make("secret") })
    expect(TokenVerifierJwt.layerKeys).type.not.toBeCallableWith({ issuer, secret: "secret" })
  })
})
