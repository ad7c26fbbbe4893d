/** What the print shop offers: work that takes longer than a call should. */
import { Tool } from "@mcpfx/schema"
import { Schema } from "effect"

export class OutOfPaper extends Schema.TaggedError<OutOfPaper>()("OutOfPaper", { missing: Schema.Int }) {
  override get message(): string {
    return `${this.missing} sheets are missing`
  }
}

/** Clients that know tasks get a handle; the others wait. */
export const Print = Tool.make("print", {
  description: "Prints copies of a book",
  input: { title: Schema.String, copies: Schema.Int },
  output: { sheets: Schema.Int },
  failure: OutOfPaper,
  task: "may"
})

/** Never without a task: nobody waits on the line for a binding. */
export const Bind = Tool.make("bind", {
  description: "Binds a book; asks for the colour of its cover",
  input: { title: Schema.String },
  output: { cover: Schema.String },
  task: "must"
})

/** Asks first, as any call does, and then becomes a task. */
export const Ship = Tool.make("ship", {
  description: "Ships a book to an address that it asks for",
  input: { title: Schema.String },
  output: { address: Schema.String },
  asks: ["elicitation.form"],
  task: "may"
})
