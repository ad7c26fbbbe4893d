import type { UserAgent } from "@mcpfx/auth"
import { TestAuthorizationServer } from "@mcpfx/testing"
import type { Layer } from "effect"
import type { HttpClient } from "effect/http"
import { describe, expect, test } from "tstyche"

declare const server: TestAuthorizationServer.TestAuthorizationServer["Service"]

describe("TestAuthorizationServer", () => {
  test("a browser for a server in another process needs an HttpClient alone", () => {
    expect(TestAuthorizationServer.layerBrowser()).type.toBe<
      Layer.Layer<UserAgent.UserAgent, never, HttpClient.HttpClient>
    >()
    expect(TestAuthorizationServer.layerBrowser).type.not.toBeCallableWith({ client: server.client })
  })

  test("what is no endpoint is told which there are", () => {
    expect(server.count).type.toBeCallableWith("token")
    // @ts-expect-error is not assignable to parameter of type '"
    server.fault("tokens", {})
  })
})
