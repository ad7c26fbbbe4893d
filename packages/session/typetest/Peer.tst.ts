import type * as Lifecycle from "@mcpfx/schema/Lifecycle"
import * as Methods from "@mcpfx/schema/Methods"
import type { Asker, Peer, PeerFailure } from "@mcpfx/session/Peer"
import * as Progress from "@mcpfx/session/Progress"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import type { Effect } from "effect"
import { expect, test } from "tstyche"

declare const peer: Peer
declare const asker: Asker

test("a request has the params and the result of its method", () => {
  expect(peer.request(Methods.Ping, {})).type.toBe<Effect.Effect<Lifecycle.EmptyResult, PeerFailure>>()
  expect(peer.request).type.not.toBeCallableWith(Methods.ToolsCall, {})
  expect(peer.request).type.not.toBeCallableWith(Methods.ToolsCall, { name: 1 })
  expect(peer.notify).type.not.toBeCallableWith(Methods.LoggingMessage, { level: "loud", data: 1 })
})

test("an asker sends requests, not notifications of its own", () => {
  expect(asker).type.not.toHaveProperty("notify")
  expect(peer).type.toBeAssignableTo<Asker>()
})

test("progress is reported from inside a request only", () => {
  expect(Progress.report({ progress: 1 })).type.toBe<Effect.Effect<void, never, RequestContext>>()
})
