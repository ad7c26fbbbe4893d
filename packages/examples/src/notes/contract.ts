/** What the notes server offers, as values that its clients can share. */
import { Prompt, Resource, Tool } from "@mcpfx/schema"
import { Schema } from "effect"

/** The name of a note: the name of its file without the ending. */
export const Name = Schema.String.check(Schema.isPattern(/^[a-z0-9-]{1,64}$/)).annotate({
  description: "Lower-case letters, digits and hyphens"
})

/** There is no note of that name. */
export class NoteMissing extends Schema.TaggedError<NoteMissing>()("NoteMissing", { name: Schema.String }) {
  override get message(): string {
    return `there is no note "${this.name}"`
  }
}

export const Write = Tool.make("write_note", {
  description: "Writes a note, in the place of one with the same name",
  input: { name: Name, text: Schema.String },
  output: { uri: Schema.String, bytes: Schema.Int },
  annotations: { idempotentHint: true }
})

export const Delete = Tool.make("delete_note", {
  description: "Deletes a note",
  input: { name: Name },
  failure: NoteMissing,
  annotations: { destructiveHint: true }
})

export const Search = Tool.make("search_notes", {
  description: "Finds the notes that hold a text, and says how far it has come",
  input: { text: Schema.String },
  output: { found: Schema.Array(Schema.Struct({ name: Schema.String, line: Schema.String })) },
  annotations: { readOnlyHint: true }
})

export const Index = Resource.make("notes://index", {
  name: "index",
  description: "The names of all notes",
  content: Schema.Array(Schema.String)
})

export const Note = Resource.template("notes://note/{name}", {
  name: "note",
  description: "One note",
  mimeType: "text/markdown",
  params: { name: Name }
})

export const Summarize = Prompt.make("summarize", {
  description: "Asks for a summary of one note",
  arguments: {
    note: Name,
    style: Schema.optionalKey(Schema.String.annotate({ description: "Such as \"three bullet points\"" }))
  }
})
