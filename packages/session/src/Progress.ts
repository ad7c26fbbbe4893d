/**
 * Reporting how far a request has come.
 *
 * @since 0.1.0
 */
import type * as Wire from "@mcpfx/schema/Progress"
import * as Effect from "effect/Effect"
import { RequestContext } from "./RequestContext.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Report {
  /** How much is done; only a value above the last one is sent (PRG-02). Fractions are fine. */
  readonly progress: number
  /** How much there is to do, if known. */
  readonly total?: number | undefined
  /** For humans; revision 2024-11-05 has no place for it and leaves it out (PRG-05). */
  readonly message?: string | undefined
}

/**
 * Sends the progress of one request that asked for it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Reporter {
  /**
   * Sends a report, waiting while the request's stream is full. Values that do not rise are dropped (PRG-02); reports that
   * come while another one waits are coalesced into the newest and do not wait.
   */
  readonly report: (report: Report) => Effect.Effect<void>
  /** The last value that was accepted; `undefined` before the first. */
  readonly last: () => number | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The token of the request, repeated as it came, in value and type (PRG-03 of field practice). */
  readonly token: string | number
  /** Sends the params on the request's stream; sends nothing once the request is over. */
  readonly send: (params: Wire.Params) => Effect.Effect<void>
  /** Where an earlier pass over the same request stopped: progress goes on above it. */
  readonly after?: number | undefined
}

/**
 * A reporter for one request.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Reporter => {
  let last = options.after
  let sending = false
  let newest: Report | undefined

  const send = (report: Report): Effect.Effect<void> =>
    options.send({
      progressToken: options.token,
      progress: report.progress,
      ...(report.total === undefined || !Number.isFinite(report.total) ? undefined : { total: report.total }),
      ...(report.message === undefined ? undefined : { message: report.message })
    })

  const rest: Effect.Effect<void> = Effect.whileLoop({
    while: () => newest !== undefined,
    body: () => {
      const report = newest
      newest = undefined
      return report === undefined ? Effect.void : send(report)
    },
    step: () => {}
  })

  return {
    last: () => last,
    report: (report) =>
      Effect.suspend(() => {
        if (!Number.isFinite(report.progress) || (last !== undefined && report.progress <= last)) return Effect.void
        last = report.progress
        newest = report
        if (sending) return Effect.void
        sending = true
        return Effect.ensuring(
          rest,
          Effect.sync(() => {
            sending = false
          })
        )
      })
  }
}

/**
 * Reports the progress of the request being served. Does nothing where nobody asked for it (PRG-02 of field practice), and
 * nothing once the request is answered or cancelled (PRG-03).
 *
 * **Example** (Two steps)
 *
 * ```ts
 * import { Progress } from "@mcpfx/session"
 * import { Effect } from "effect"
 *
 * const work = Effect.gen(function*() {
 *   yield* Progress.report({ progress: 1, total: 2, message: "read" })
 *   yield* Progress.report({ progress: 2, total: 2, message: "written" })
 * })
 * ```
 *
 * @category reporting
 * @since 0.1.0
 */
export const report = (report: Report): Effect.Effect<void, never, RequestContext> =>
  Effect.flatMap(RequestContext, (context) => context.progress?.report(report) ?? Effect.void)
