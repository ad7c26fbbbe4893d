/** What the release server offers: every tool of it asks its client for something. */
import { Tool } from "@mcpfx/schema"
import { Schema } from "effect"

export const Deploy = Tool.make("deploy", {
  description: "Deploys the next version of a service, to where the user says",
  input: { service: Schema.String },
  output: { version: Schema.String, env: Schema.String },
  asks: ["elicitation.form"]
})

export const Connect = Tool.make("connect", {
  description: "Has the user log in to the code host, on its own page",
  output: { connected: Schema.Boolean },
  asks: ["elicitation.url"]
})

export const Summarize = Tool.make("summarize", {
  description: "Has the client's model put changes into one sentence",
  input: { changes: Schema.Array(Schema.String) },
  output: { summary: Schema.String },
  asks: ["sampling"]
})

export const Workspaces = Tool.make("workspaces", {
  description: "Lists the directories that the client lets this server work in",
  output: { uris: Schema.Array(Schema.String) },
  asks: ["roots"]
})

export const Announce = Tool.make("announce", {
  description: "Writes an announcement, from an audience, a text of the model and the name of the workspace",
  input: { version: Schema.String },
  output: { announcement: Schema.String },
  asks: ["elicitation.form", "sampling", "roots"]
})
