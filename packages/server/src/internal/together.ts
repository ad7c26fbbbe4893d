/** Several questions at the same time. */
import type { RequestContext } from "@mcpfx/session/RequestContext"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { CurrentGroup } from "./interaction.ts"
import { interactionOf } from "./wayToAsk.ts"

export type Question = Effect.Effect<unknown, unknown, unknown>

/** Asks them all, each in a fiber of its own, which the way they are asked may want to know of. */
export const together = (questions: ReadonlyArray<Question>): Effect.Effect<ReadonlyArray<unknown>, unknown, unknown> =>
  Effect.withFiber((owner) =>
    Effect.contextWith((context: Context.Context<RequestContext>) => {
      const group = interactionOf(context).group?.(owner, questions.length)
      if (group === undefined) return Effect.forEach(questions, (question) => question, { concurrency: "unbounded" })
      const member = (question: Question): Question =>
        Effect.withFiber((fiber) => {
          group.join(fiber)
          const asked = Effect.provideService(question, CurrentGroup, group)
          return Effect.onError(asked, () => Effect.sync(() => group.fail()))
        })
      return Effect.ensuring(
        Effect.forEach(questions, member, { concurrency: "unbounded" }),
        Effect.sync(() => group.close())
      )
    })
  )
