import {
  AuthorizationCode,
  ClientCredentials,
  DeviceAuthorization,
  type Grant,
  type UserAgent,
  WorkloadIdentity
} from "@mcpfx/auth"
import { Context, Effect, Redacted } from "effect"
import { describe, expect, test } from "tstyche"

class Screen extends Context.Service<Screen, { readonly show: (text: string) => Effect.Effect<void> }>()("Screen") {}
class Platform extends Context.Service<Platform, { readonly token: Effect.Effect<Redacted.Redacted<string>, Error> }>()(
  "Platform"
) {}

const client = { issuer: "https://login.example.com", clientId: "batch", clientSecret: Redacted.make("secret") }

describe("grants", () => {
  test("need what their parts need, and nothing else", () => {
    expect(AuthorizationCode.grant()).type.toBe<Grant.Grant<UserAgent.UserAgent>>()
    expect(ClientCredentials.grant({ client })).type.toBe<Grant.Grant>()
    expect(DeviceAuthorization.grant({ show: () => Effect.void })).type.toBe<Grant.Grant>()
    expect(DeviceAuthorization.grant({
      show: ({ userCode }) => Effect.flatMap(Screen, ({ show }) => show(userCode))
    })).type.toBe<Grant.Grant<Screen>>()
    expect(WorkloadIdentity.grant({ assertion: () => Effect.flatMap(Platform, ({ token }) => token) })).type.toBe<
      Grant.Grant<Platform>
    >()
  })

  test("take secrets only as what nobody prints", () => {
    expect(ClientCredentials.grant).type.not.toBeCallableWith({ client: { ...client, clientSecret: "secret" } })
    expect(ClientCredentials.grant).type.not.toBeCallableWith({ client: { clientId: "batch" } })
    expect(WorkloadIdentity.grant).type.not.toBeCallableWith({ assertion: () => Effect.succeed("jwt") })
  })
})
