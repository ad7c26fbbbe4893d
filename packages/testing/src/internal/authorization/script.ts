/** Faults as a test scripts them: those that could never be sent are refused, as nobody would be answered. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Fault } from "../../AuthorizationFault.ts"
import type { Endpoint } from "./model.ts"
import type { State } from "./state.ts"

const isStatus = (status: number): boolean => Number.isInteger(status) && status >= 200 && status <= 599

const areHeaders = (headers: Readonly<Record<string, string>> | undefined): boolean =>
  Result.isSuccess(Result.try(() => new Headers(headers)))

const wrongOf = ({ answer, headers, status }: Fault): string | undefined => {
  const bad = [status, answer?.status].find((status) => status !== undefined && !isStatus(status))
  if (bad !== undefined) return `an answer cannot have the status ${bad}: it has to be one of 200 to 599`
  return areHeaders(headers) && areHeaders(answer?.headers) ? undefined : "an answer cannot have these headers"
}

export const script = (state: State, endpoint: Endpoint, faults: ReadonlyArray<Fault>): Effect.Effect<void> =>
  Effect.suspend(() => {
    const wrong = faults.map(wrongOf).find((wrong) => wrong !== undefined)
    if (wrong !== undefined) return Effect.die(new Error(wrong))
    const wanted = faults.filter(({ times = 1 }) => times > 0)
    state.faults.set(endpoint, [...(state.faults.get(endpoint) ?? []), ...wanted])
    return Effect.void
  })
