import { assert, describe, it } from "@effect/vitest"
import * as Lifecycle from "@mcpfx/session/Lifecycle"
import * as fc from "fast-check"

/** A second telling of the same rule, over names instead of states. */
interface Model {
  phase: "fresh" | "asked" | "asked early" | "answered" | "ready" | "closed"
  terms: string | undefined
}

const events = ["initialize", "answered", "refused", "initialized", "establish", "close", "ping", "tools/list"] as const
type Event = typeof events[number]

const expectVerdict = (model: Model, method: "initialize" | "ping" | "tools/list"): Lifecycle.Verdict => {
  if (model.phase === "closed") return "Closed"
  if (method === "ping") return "Ping"
  if (method === "initialize") return model.phase === "fresh" ? "Initialize" : "AlreadyInitialized"
  if (model.phase === "fresh") return "NotInitialized"
  return model.phase === "asked" || model.phase === "asked early" ? "Wait" : "Serve"
}

const next = (model: Model, event: Event, terms: string): Model => {
  const { phase } = model
  if (phase === "closed") return model
  const asked = phase === "asked" || phase === "asked early"
  switch (event) {
    case "initialize":
      return phase === "fresh" ? { phase: "asked", terms } : model
    case "answered":
      return asked ? { ...model, phase: phase === "asked" ? "answered" : "ready" } : model
    case "refused":
      return asked ? { phase: "fresh", terms: undefined } : model
    case "initialized":
      if (phase === "answered") return { ...model, phase: "ready" }
      return phase === "asked" ? { ...model, phase: "asked early" } : model
    case "establish":
      return { phase: "ready", terms }
    case "close":
      return { phase: "closed", terms: phase === "fresh" || asked ? undefined : model.terms }
    default:
      return model
  }
}

const apply = (state: Lifecycle.State<string>, event: Event, terms: string): Lifecycle.State<string> => {
  switch (event) {
    case "initialize":
      return Lifecycle.negotiate(state, terms)
    case "answered":
      return Lifecycle.answered(state)
    case "refused":
      return Lifecycle.refused(state)
    case "initialized":
      return Lifecycle.initialized(state)
    case "establish":
      return Lifecycle.establish(state, terms)
    case "close":
      return Lifecycle.close(state, "closed")
    default:
      return state
  }
}

describe("Lifecycle", () => {
  it("[LIF-01] [LIF-06] [LIF-07] [PNG-01] agrees with the model whatever happens in whatever order", () => {
    fc.assert(fc.property(fc.array(fc.constantFrom(...events), { maxLength: 40 }), (steps) => {
      let state: Lifecycle.State<string> = Lifecycle.fresh
      let model: Model = { phase: "fresh", terms: undefined }
      steps.forEach((event, index) => {
        for (const method of ["initialize", "ping", "tools/list"] as const) {
          assert.strictEqual(Lifecycle.request(state, method), expectVerdict(model, method))
        }
        const terms = `terms ${index}`
        state = apply(state, event, terms)
        model = next(model, event, terms)
        const inForce = model.phase === "asked" || model.phase === "asked early" ? undefined : model.terms
        assert.strictEqual(Lifecycle.agreed(state), inForce)
      })
    }))
  })

  it("the first reason to close stays", () => {
    const closed = Lifecycle.close(Lifecycle.close(Lifecycle.ready("terms"), "idle"), "terminated")
    assert.deepStrictEqual(closed, { _tag: "Closed", agreed: "terms", reason: "idle" })
  })
})
