/**
 * What can go wrong while a server is put together, and what its handlers may fail with.
 *
 * @since 0.1.0
 */
import type { McpError, PeerError } from "@mcpfx/schema/McpError"
import * as Schema from "effect/Schema"

/**
 * Two registrations of one endpoint have the same name (or URI): an endpoint with a twin does not start.
 *
 * @category errors
 * @since 0.1.0
 */
export class DuplicateEntry extends Schema.TaggedError<DuplicateEntry>("@mcpfx/server/DuplicateEntry")(
  "DuplicateEntry",
  {
    kind: Schema.Literals([
      "tool",
      "resource",
      "template",
      "prompt",
      "method",
      "notification",
      "announcement",
      "extension"
    ]),
    name: Schema.String
  }
) {
  override get message(): string {
    return `There is already a ${this.kind} "${this.name}"`
  }
}

/**
 * What a handler returned, or what middleware made of it, is not what the contract says: a defect, logged and answered with
 * -32603. `detail` names the places, not the values.
 *
 * @category errors
 * @since 0.1.0
 */
export class ResultMismatch extends Schema.TaggedError<ResultMismatch>("@mcpfx/server/ResultMismatch")(
  "ResultMismatch",
  {
    kind: Schema.Literals(["tool", "resource", "template", "prompt", "method"]),
    name: Schema.String,
    detail: Schema.String
  }
) {
  override get message(): string {
    return `The handler of the ${this.kind} "${this.name}" broke its contract: ${this.detail}`
  }
}

/**
 * What is to be served as a skill is none, for the reason given: the endpoint is not built.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidSkill extends Schema.TaggedError<InvalidSkill>("@mcpfx/server/InvalidSkill")(
  "InvalidSkill",
  { path: Schema.String, reason: Schema.String }
) {
  override get message(): string {
    return `"${this.path}" is no skill: ${this.reason}`
  }
}

/**
 * The protocol errors with which a handler may refuse a request. They are sent as they are; an error that another peer
 * sent is not one of them, since it speaks of somebody else's request.
 *
 * @category errors
 * @since 0.1.0
 */
export type Refusal = Exclude<McpError, PeerError>

/**
 * A failure on its way out, as middleware meets it: what the handler, or middleware further in, failed with. Middleware
 * lets it pass, or looks at `error` and does something about it.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unhandled {
  readonly _tag = "Unhandled"
  readonly error: unknown
  /** The id of the middleware that failed; `undefined` when it was the handler. */
  readonly from: string | undefined
  constructor(error: unknown, from: string | undefined) {
    this.error = error
    this.from = from
  }
}

const Ask = Schema.Literals([
  "elicitation.form",
  "elicitation.url",
  "sampling",
  "sampling.tools",
  "sampling.context",
  "roots"
])

/**
 * The user, or the client for them, said no to what a handler asked.
 *
 * @category errors
 * @since 0.1.0
 */
export class Declined extends Schema.TaggedError<Declined>("@mcpfx/server/Declined")("Declined", { ask: Ask }) {
  override get message(): string {
    return `The user declined (${this.ask})`
  }
}

/**
 * The user closed what a handler asked without an answer.
 *
 * @category errors
 * @since 0.1.0
 */
export class Cancelled extends Schema.TaggedError<Cancelled>("@mcpfx/server/Cancelled")("Cancelled", { ask: Ask }) {
  override get message(): string {
    return `The user gave no answer (${this.ask})`
  }
}

/**
 * The client cannot be asked this: it did not declare the capability, or nothing can be sent to it.
 *
 * @category errors
 * @since 0.1.0
 */
export class CapabilityMissing
  extends Schema.TaggedError<CapabilityMissing>("@mcpfx/server/CapabilityMissing")("CapabilityMissing", { ask: Ask })
{
  override get message(): string {
    return `The client does not support ${this.ask}`
  }
}

/**
 * The client did not answer in time what a handler asked.
 *
 * @category errors
 * @since 0.1.0
 */
export class AskTimeout extends Schema.TaggedError<AskTimeout>("@mcpfx/server/AskTimeout")(
  "AskTimeout",
  { ask: Ask, millis: Schema.Finite }
) {
  override get message(): string {
    return `The client did not answer within ${this.millis} ms (${this.ask})`
  }
}

/**
 * The client gave no answer that can be used: it failed (`error`), it sent something else than what was asked for
 * (`invalid`, ELI-10), or it is gone (`closed`). `detail` names the fields at fault, never what stood in them.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unanswered extends Schema.TaggedError<Unanswered>("@mcpfx/server/Unanswered")("Unanswered", {
  ask: Ask,
  reason: Schema.Literals(["error", "invalid", "closed"]),
  detail: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    const detail = this.detail === undefined ? "" : `: ${this.detail}`
    return this.reason === "invalid"
      ? `The client's answer is not what was asked for (${this.ask})${detail}`
      : `The client did not answer (${this.ask})${detail}`
  }
}

/**
 * A step was begun before, and nobody knows whether it was done: its process went away, or it still runs elsewhere. The
 * handler decides.
 *
 * @category errors
 * @since 0.1.0
 */
export class StepInDoubt
  extends Schema.TaggedError<StepInDoubt>("@mcpfx/server/StepInDoubt")("StepInDoubt", { key: Schema.String })
{
  override get message(): string {
    return `The step "${this.key}" was begun before and may have been done`
  }
}

/**
 * What asking the client, and a step, can fail with. A handler that leaves one to the caller gives a result with `isError`
 * in tools, `-32602` with the reason in prompts and resources; `CapabilityMissing` is `-32021` on 2026-07-28 (META-13).
 *
 * @category errors
 * @since 0.1.0
 */
export type InputError = Declined | Cancelled | CapabilityMissing | AskTimeout | Unanswered | StepInDoubt

/**
 * Whether a failure is one of asking the client, or of a step.
 *
 * @category guards
 * @since 0.1.0
 */
export const isInputError = (u: unknown): u is InputError =>
  u instanceof Declined || u instanceof Cancelled || u instanceof CapabilityMissing || u instanceof AskTimeout ||
  u instanceof Unanswered || u instanceof StepInDoubt

/**
 * The options of an endpoint do not make sense, for the reason given: it is not built.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidOptions extends Schema.TaggedError<InvalidOptions>("@mcpfx/server/InvalidOptions")(
  "InvalidOptions",
  { reason: Schema.String }
) {
  override get message(): string {
    return this.reason
  }
}

/**
 * The store of tasks could not be reached, or has something else under its keys. Clients are told that something broke here.
 *
 * @category errors
 * @since 0.1.0
 */
export class TaskStoreUnavailable
  extends Schema.TaggedError<TaskStoreUnavailable>("@mcpfx/server/TaskStoreUnavailable")(
    "TaskStoreUnavailable",
    {
      operation: Schema.Literals(["create", "get", "update", "list", "remove", "expire", "isAlive"]),
      cause: Schema.Defect()
    }
  )
{
  override get message(): string {
    return `The store of tasks could not ${this.operation}`
  }
}
