/** What the diary offers. A tool says which scopes a caller's token needs, beyond those that the whole server wants. */
import { Tool } from "@mcpfx/schema"
import { Schema } from "effect"

export const Read = Tool.make("read_diary", {
  description: "Reads the diary of whoever is logged in",
  output: { owner: Schema.String, pages: Schema.Array(Schema.String) },
  annotations: { readOnlyHint: true }
})

export const Write = Tool.make("write_diary", {
  description: "Adds a page to the diary of whoever is logged in",
  input: { page: Schema.String },
  output: { pages: Schema.Int },
  scopes: ["diary:write"]
})
