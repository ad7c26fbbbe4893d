import * as CustomMethod from "@mcpfx/schema/CustomMethod"
import * as Extension from "@mcpfx/schema/Extension"
import { Context, Effect, type Layer, type Option, Schema } from "effect"
import { expect, test } from "tstyche"
import * as ClientExtension from "../src/ClientExtension.ts"
import type { McpClient } from "../src/McpClient.ts"
import type { McpClientError } from "../src/McpClientError.ts"

class Atlas extends Context.Service<Atlas, { readonly home: string }>()("Atlas") {}
class Log extends Context.Service<Log, { readonly write: (text: string) => Effect.Effect<void> }>()("Log") {}

const Where = CustomMethod.request("com.example/where", {
  params: { precise: Schema.Boolean },
  result: { place: Schema.String },
  sender: "server"
})
const Moved = CustomMethod.notification("com.example/moved", { params: { to: Schema.String } })
const Place = Extension.make("com.example/place", {
  clientSettings: { most: Schema.Int },
  serverSettings: { maps: Schema.Array(Schema.String) },
  requests: [Where],
  notifications: [Moved]
})
const Bare = Extension.make("com.example/bare", { notifications: [Moved] })

test("what handlers and listeners ask for, the layer asks for", () => {
  const live = ClientExtension.layer(Place, {
    settings: { most: 1 },
    handlers: {
      "com.example/where": ({ precise }) => {
        expect(precise).type.toBe<boolean>()
        return Effect.map(Atlas, ({ home }) => ({ place: home }))
      }
    },
    listeners: { "com.example/moved": ({ to }) => Effect.flatMap(Log, ({ write }) => write(to)) }
  })
  expect(live).type.toBe<Layer.Layer<never, never, Atlas | Log>>()
})

test("what is not needed may be left out", () => {
  expect(ClientExtension.layer(Bare)).type.toBe<Layer.Layer<never>>()
  expect(ClientExtension.layer(Bare, {})).type.toBe<Layer.Layer<never, never, never>>()
  expect(ClientExtension.layer).type.not.toBeCallableWith(Place)
  expect(ClientExtension.layer).type.not.toBeCallableWith(Place, { settings: { most: 1 } })
})

test("settings and results have the types of the extension", () => {
  const handlers = { "com.example/where": () => Effect.succeed({ place: "" }) }
  expect(ClientExtension.layer).type.toBeCallableWith(Place, { settings: { most: 1 }, handlers })
  expect(ClientExtension.layer).type.not.toBeCallableWith(Place, { settings: { most: "1" }, handlers })
  expect(ClientExtension.layer).type.not.toBeCallableWith(Place, { handlers })
  expect(ClientExtension.layer).type.not.toBeCallableWith(Place, {
    settings: { most: 1 },
    handlers: { "com.example/where": () => Effect.succeed({ place: 1 }) }
  })
  expect(ClientExtension.server(Place)).type.toBe<
    Effect.Effect<Option.Option<{ readonly maps: ReadonlyArray<string> }>, McpClientError, McpClient>
  >()
})

test("only what servers send is handled here", () => {
  const Mine = CustomMethod.request("com.example/mine")
  expect(ClientExtension.method).type.toBeCallableWith(Where, () => Effect.succeed({ place: "" }))
  expect(ClientExtension.method).type.not.toBeCallableWith(Mine, () => Effect.void)
  expect(ClientExtension.notify).type.not.toBeCallableWith(Moved, { to: "" })
})
