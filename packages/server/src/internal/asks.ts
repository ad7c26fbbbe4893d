/** Contracts name asks as handlers do, capabilities as the wire does. */
import type { Ask } from "@mcpfx/schema/Ask"
import type * as Capabilities from "@mcpfx/schema/Capabilities"

const needed: Readonly<Record<Ask, Capabilities.Ask>> = {
  elicit: "elicitation.form",
  elicitUrl: "elicitation.url",
  sample: "sampling",
  sampleTools: "sampling.tools",
  roots: "roots"
}

export const capabilitiesOf = (asks: ReadonlyArray<Ask>): ReadonlyArray<Capabilities.Ask> =>
  asks.map((ask) => needed[ask])
