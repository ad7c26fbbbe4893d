/** How a check ended, set against what its peer is known to do wrong. */
import type { Wire } from "../../../src/interop/wire.ts"
import type { Fault } from "./faults.ts"

export const shown = (lines: ReadonlyArray<string>): string => lines.map((line) => line.slice(0, 400)).join("\n")

/** Runs a check; a listed fault has to show, with its proof on the wire, or the entry is out of date. */
export const judge = async (fault: Fault | undefined, wire: Wire, run: () => Promise<void>): Promise<void> => {
  const from = wire.lines.length
  const failure = await run().then(() => undefined, (error: unknown) => ({ error }))
  const lines = wire.lines.slice(from)
  if (fault === undefined) {
    if (failure !== undefined) throw new Error(`${String(failure.error)}\n${shown(lines)}`, { cause: failure.error })
    return
  }
  if (failure === undefined) throw new Error(`the peer is mended, take the entry out: ${fault.fault}`)
  if (!lines.some((line) => line.includes(fault.wire))) {
    throw new Error(
      `nothing on the wire proves the listed fault, ${fault.wire}:\n${String(failure.error)}\n${shown(lines)}`
    )
  }
}
