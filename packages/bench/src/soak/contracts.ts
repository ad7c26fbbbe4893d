/** What the server of the soak offers. */
import * as Tool from "@mcpfx/schema/Tool"
import * as Schema from "effect/Schema"

export const Add = Tool.make("add", {
  input: { a: Schema.Finite, b: Schema.Finite },
  output: { sum: Schema.Finite }
})

/** Reports twice, and asks nothing. */
export const Steps = Tool.make("steps", { input: { wait: Schema.Int } })

/** Asks the user for a number. */
export const Ask = Tool.make("ask", { asks: ["elicitation.form"], output: { given: Schema.Finite } })

/** Lets go of its client in the middle, where the client can come back. */
export const Resumed = Tool.make("resumed", { input: { wait: Schema.Int } })

export const Job = Tool.make("job", { input: { wait: Schema.Int }, task: "may" })

/** Never ends by itself. */
export const Never = Tool.make("never", {})

/** Changes what others watch. */
export const Touch = Tool.make("touch", {})

export const watched = "soak://watched"
