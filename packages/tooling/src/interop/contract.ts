/** The offer as contracts, which the server and the typed calls of the client share. */
import { Prompt, Resource, Tool } from "@mcpfx/schema"
import { Schema } from "effect"
import * as Offer from "./offer.ts"

const { add, burst, fail, grow, say, status, steps, touch, wait, where } = Offer.tools

export const Add = Tool.make(add.name, {
  description: add.description,
  input: { a: Schema.Finite, b: Schema.Finite },
  output: { sum: Schema.Finite }
})
export const Fail = Tool.make(fail.name, { description: fail.description })
export const Steps = Tool.make(steps.name, { description: steps.description })
export const Burst = Tool.make(burst.name, { description: burst.description })
export const Say = Tool.make(say.name, { description: say.description })
export const Wait = Tool.make(wait.name, { description: wait.description })
export const Status = Tool.make(status.name, {
  description: status.description,
  output: { waiting: Schema.Int, cancelled: Schema.Int }
})
export const Grow = Tool.make(grow.name, { description: grow.description })
export const Touch = Tool.make(touch.name, { description: touch.description })
export const Where = Tool.make(where.name, {
  description: where.description,
  output: { cwd: Schema.String, word: Schema.String }
})
export const AskName = Tool.make(Offer.asks.name.name, {
  description: Offer.asks.name.description,
  asks: ["elicitation.form"]
})
export const AskAgain = Tool.make(Offer.asks.again.name, {
  description: Offer.asks.again.description,
  asks: ["elicitation.form"]
})
export const AskModel = Tool.make(Offer.asks.model.name, {
  description: Offer.asks.model.description,
  asks: ["sampling"]
})
export const AskRoots = Tool.make(Offer.asks.roots.name, {
  description: Offer.asks.roots.description,
  asks: ["roots"]
})
export const Late = Tool.make(Offer.late.name, { description: Offer.late.description })

export const Motd = Resource.make(Offer.motd.uri, { name: Offer.motd.name, mimeType: Offer.motd.mimeType })
export const Note = Resource.template("memo://note/{name}", {
  name: Offer.note.name,
  mimeType: Offer.note.mimeType,
  params: { name: Schema.String }
})
export const Greet = Prompt.make(Offer.greet.name, {
  description: Offer.greet.description,
  arguments: { who: Schema.String }
})
