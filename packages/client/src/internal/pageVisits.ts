/** Pages that have to be visited before a request can be sent again: shown, and waited for (ELI-18). */
import type * as Elicitation from "@mcpfx/schema/Elicitation"
import * as Methods from "@mcpfx/schema/Methods"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Parts } from "../InputDriver.ts"
import { fail, type McpClientError } from "../McpClientError.ts"
import type { Notifications } from "../Notifications.ts"
import { answerAll } from "./inputAnswers.ts"

/**
 * Succeeds when the user has been everywhere the failure names; fails with it where it names nothing, where the user does not
 * want to go, and where the server does not say in time that it is done. `undefined` where that was not asked for.
 */
export const pageVisits = (
  parts: Parts
): ((error: McpClientError, during: string) => Effect.Effect<void, McpClientError>) | undefined => {
  const { connection, handlers, notifications, options: { awaitUrls } } = parts
  if (awaitUrls === undefined || handlers.pages === undefined) return undefined
  const within = Duration.fromInputUnsafe(awaitUrls)
  return (error, during) => {
    const { reason } = error
    if (reason._tag !== "UrlElicitationRequired" || reason.elicitations.length === 0) return Effect.fail(error)
    const { elicitations } = reason
    return Effect.scoped(Effect.gen(function*() {
      const done = yield* completion(notifications, elicitations)
      const asks = elicitations.map((params, index) =>
        [String(index), { method: Methods.ElicitationCreate.name, params }] as const
      )
      const answers = yield* answerAll(parts, { live: yield* connection.live, during, round: 1, asks })
      if (answers.some(([, { action }]) => action !== "accept")) return yield* fail(reason, during)
      yield* Effect.timeoutOrElse(done, { duration: within, orElse: () => Effect.fail(fail(reason, during)) })
    }))
  }
}

/** Completes when the server has said of each page that it is done; what it says of others means nothing. */
const completion = Effect.fnUntraced(function*(
  notifications: Notifications,
  pages: ReadonlyArray<Elicitation.UrlParams>
) {
  const open = new Set(pages.flatMap(({ elicitationId }) => elicitationId ?? []))
  const all = yield* Deferred.make<void>()
  yield* notifications.listen(Methods.ElicitationComplete, ({ elicitationId }) => {
    open.delete(elicitationId)
    if (open.size === 0) Deferred.doneUnsafe(all, Effect.void)
  })
  return Deferred.await(all)
})
