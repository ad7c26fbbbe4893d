import type * as Sampling from "@mcpfx/schema/Sampling"
import * as Progress from "@mcpfx/session/Progress"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import { Context, Effect, type Layer, Stream, type SubscriptionRef } from "effect"
import type { LanguageModel } from "effect/ai"
import { expect, test } from "tstyche"
import { AskContext } from "../src/AskContext.ts"
import * as ClientElicitation from "../src/ClientElicitation.ts"
import * as ClientRoots from "../src/ClientRoots.ts"
import * as ClientSampling from "../src/ClientSampling.ts"
import * as ModelSampling from "../src/ModelSampling.ts"
import type * as TerminalForm from "../src/TerminalForm.ts"

class Desk extends Context.Service<Desk, { readonly ask: (question: string) => Effect.Effect<boolean> }>()("Desk") {}

declare const ref: SubscriptionRef.SubscriptionRef<ReadonlyArray<{ readonly uri: string }>>

const atDesk = Effect.gen(function*() {
  yield* AskContext
  yield* Effect.addFinalizer(() => Effect.void)
  const desk = yield* Desk
  return (yield* desk.ask("?")) ? ClientElicitation.accept({ ok: true }) : ClientElicitation.decline
})

test("a layer needs what its handler needs, but for the facts of the ask and its scope", () => {
  expect(ClientElicitation.layerForm(() => atDesk)).type.toBe<Layer.Layer<never, never, Desk>>()
  expect(ClientElicitation.layerForm(() => Effect.succeed(ClientElicitation.cancel))).type.toBe<
    Layer.Layer<never, never, never>
  >()
  expect(ClientElicitation.layerUrl(() => Effect.as(Desk, ClientElicitation.visit))).type.toBe<
    Layer.Layer<never, never, Desk>
  >()
  expect(ClientSampling.layer(() => Effect.as(Desk, ClientSampling.text("", "")))).type.toBe<
    Layer.Layer<never, never, Desk>
  >()
  expect(ClientRoots.layer(Effect.as(Desk, []))).type.toBe<Layer.Layer<never, never, Desk>>()
  expect(ClientRoots.layerStream(Stream.fromEffect(Effect.as(Desk, [])))).type.toBe<Layer.Layer<never, never, Desk>>()
})

test("a request that does not exist on every revision is not there to be answered", () => {
  const reporting = ClientElicitation.layerForm(() =>
    Effect.as(Progress.report({ progress: 1 }), ClientElicitation.cancel)
  )
  expect(reporting).type.toBe<Layer.Layer<never, never, RequestContext>>()
})

test("answers are of the kind that was asked for", () => {
  expect(ClientElicitation.layerForm).type.not.toBeCallableWith(() => Effect.succeed({ action: "accept" as const }))
  expect(ClientElicitation.layerForm).type.not.toBeCallableWith(() =>
    Effect.succeed({ action: "accept" as const, content: { nested: { a: 1 } } })
  )
  expect(ClientElicitation.layerForm).type.not.toBeCallableWith(() => Effect.succeed({ action: "perhaps" as const }))
  expect(ClientSampling.layer).type.not.toBeCallableWith(() => Effect.succeed("42"))
  expect(ClientRoots.layer).type.not.toBeCallableWith(["file:///a"])
  expect(ClientRoots.layerRef).type.toBeCallableWith(ref)
})

test("handlers have no failures of their own, but for a model that is not to answer", () => {
  expect(ClientElicitation.layerForm).type.not.toBeCallableWith(() => Effect.fail("no"))
  expect(ClientSampling.layer).type.not.toBeCallableWith(() => Effect.fail("no"))
  expect(ClientSampling.layer).type.toBeCallableWith(() => ClientSampling.reject)
})

test("a model does not answer without consent, nor without a word to its provider about limits", () => {
  const consent = (params: Sampling.CreateParams) => Effect.as(Desk, params)
  const configure = <A, E, R>(call: Effect.Effect<A, E, R>) => call
  expect(ModelSampling.layer({ consent, configure })).type.toBe<
    Layer.Layer<never, never, Desk | LanguageModel.LanguageModel>
  >()
  expect(ModelSampling.layer).type.not.toBeCallableWith({ configure })
  expect(ModelSampling.layer).type.not.toBeCallableWith({ consent })
  expect<typeof TerminalForm.consent>().type.toBeAssignableTo<
    ModelSampling.Options<Effect.Services<ReturnType<typeof TerminalForm.consent>>>["consent"]
  >()
})
