/** What messages are made of on one revision: the wire shape of each part, and how the neutral part is written to it. */
import type * as Schema from "effect/Schema"
import type * as Capabilities from "../Capabilities.ts"
import type * as Elicitation from "../Elicitation.ts"
import type { Implementation } from "../Implementation.ts"
import type { JsonObject } from "../JsonRpc.ts"
import type * as Sampling from "../Sampling.ts"
import type { Project } from "./project.ts"

export interface Shape<out A = unknown> {
  /** The exact wire shape. */
  readonly schema: Schema.Codec<A, unknown>
  /** From the neutral part to the wire: leaves out and downgrades. */
  readonly write: Project
  /** Leaves out what means nothing on this revision although the neutral model has a member of that name. */
  readonly read: Project
}

export interface Fields {
  readonly [name: PropertyKey]: Schema.Codec<unknown, unknown>
}

/** Members that some messages share. */
export interface Members {
  readonly fields: Fields
  readonly project: Project
}

export interface Shapes {
  /** `_meta` of requests. Its type says that it is there, which no reader relies on: neutral params have it optional. */
  readonly requestMeta: { readonly _meta: Schema.Codec<JsonObject, unknown> }
  /** The rule of `requestMeta` for what is there. */
  readonly isRequestMeta: (u: unknown) => boolean
  /** What every result has. */
  readonly result: Members
  /** What results that may be kept have. */
  readonly cacheable: Members
  /** Leaves out of a result that is read what means nothing on this revision. */
  readonly unread: Project
  /** What a call result has beside its content. */
  readonly call: Members
  /** `task`, on requests that may become one. */
  readonly task: Members
  /** What a retry brings: `inputResponses` and `requestState`. */
  readonly retry: Members
  readonly implementation: Shape<Implementation>
  readonly client: Shape<Capabilities.Client>
  readonly server: Shape<Capabilities.Server>
  readonly content: Shape
  readonly contents: Shape
  readonly resource: Shape
  readonly template: Shape
  readonly prompt: Shape
  readonly tool: Shape
  readonly root: Shape
  readonly sample: Shape<Sampling.CreateParams>
  readonly sampled: Shape
  readonly elicit: Shape<Elicitation.Params>
  readonly elicited: Shape
}
