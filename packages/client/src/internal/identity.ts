/** How the client calls itself where the program says nothing. */
import type * as Implementation from "@mcpfx/schema/Implementation"

/** The version of this package, as its manifest has it. */
const version = "0.0.0"

export const identity: Implementation.Implementation = { name: "mcpfx-client", version }
