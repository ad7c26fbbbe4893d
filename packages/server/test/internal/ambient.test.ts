import { assert, describe, it } from "@effect/vitest"
import { RequestContext } from "@mcpfx/session/RequestContext"
import { CurrentPrincipal } from "@mcpfx/transport/Principal"
import * as Everything from "effect"
import { Context, Layer, Scope, Tracer } from "effect"
import { HttpClient } from "effect/http"
import { KeyValueStore } from "effect/persistence"
import { isAmbient } from "../../src/internal/ambient.ts"
import { Registry } from "../../src/Registry.ts"

const isModule = (u: unknown): u is Readonly<Record<string, unknown>> => typeof u === "object" && u !== null

describe("what a layer does not keep for requests", () => {
  it("is every reference of Effect's run-time, whatever it is called", () => {
    const references = Object.entries(Everything).flatMap(([module, exports]) =>
      isModule(exports)
        ? Object.entries(exports).flatMap(([name, value]) =>
          Context.isKey(value) && Context.isReference(value) ? [[`${module}.${name}`, value.key] as const] : []
        )
        : []
    )
    assert.isAbove(references.length, 15)
    assert.deepStrictEqual(references.filter(([, key]) => !isAmbient(key)), [])
  })

  it("is scopes, spans and what belongs to one request", () => {
    for (const { key } of [Scope.Scope, Tracer.ParentSpan, Layer.CurrentMemoMap, RequestContext, CurrentPrincipal]) {
      assert.isTrue(isAmbient(key), key)
    }
  })

  it("is no service, of Effect or of anyone else", () => {
    for (const { key } of [HttpClient.HttpClient, KeyValueStore.KeyValueStore, Registry]) {
      assert.isFalse(isAmbient(key), key)
    }
    assert.isFalse(isAmbient("effect/LoggerOfMine"))
  })
})
