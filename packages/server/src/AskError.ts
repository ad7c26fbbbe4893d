/**
 * What can be wrong with the way a handler asks, and with the stores that this takes: found when it happens, logged and
 * answered with `-32603`. It names the question or step, never its content.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * Another pass over the handler asks something else under the key of an earlier question: what it asks depends on the time,
 * on chance or on other state. Such values belong in a `Step`.
 *
 * @category errors
 * @since 0.1.0
 */
export class AskChanged
  extends Schema.TaggedError<AskChanged>("@mcpfx/server/AskChanged")("AskChanged", { key: Schema.String })
{
  override get message(): string {
    return `The question "${this.key}" is not what it was in an earlier round`
  }
}

/**
 * The handler asks something new before it has come to what was answered: it took another way than in the earlier round.
 * `unused` are the answers nobody wanted.
 *
 * @category errors
 * @since 0.1.0
 */
export class AskNotReplayed extends Schema.TaggedError<AskNotReplayed>("@mcpfx/server/AskNotReplayed")(
  "AskNotReplayed",
  { key: Schema.String, unused: Schema.Array(Schema.String) }
) {
  override get message(): string {
    return `The handler asked "${this.key}" and passed by what was answered: ${this.unused.join(", ")}`
  }
}

/**
 * Two questions, or two steps, of one pass have the same key.
 *
 * @category errors
 * @since 0.1.0
 */
export class DuplicateKey extends Schema.TaggedError<DuplicateKey>("@mcpfx/server/DuplicateKey")("DuplicateKey", {
  kind: Schema.Literals(["question", "step"]),
  key: Schema.String
}) {
  override get message(): string {
    return `There is already a ${this.kind} "${this.key}" in this request`
  }
}

/**
 * A question stood where its handler cannot end: in a step, or, on 2026-07-28, in an uninterruptible region.
 *
 * @category errors
 * @since 0.1.0
 */
export class AskMisplaced extends Schema.TaggedError<AskMisplaced>("@mcpfx/server/AskMisplaced")("AskMisplaced", {
  where: Schema.Literals(["uninterruptible", "step"]),
  key: Schema.String
}) {
  override get message(): string {
    return this.where === "step"
      ? `The question "${this.key}" is asked inside of a step`
      : `The question "${this.key}" is asked in an uninterruptible region`
  }
}

/**
 * A question lost a race, ran into a deadline or was interrupted by its handler before it was sent: what the handler did
 * then did not come from the client, and another pass may do something else.
 *
 * @category errors
 * @since 0.1.0
 */
export class AskLost extends Schema.TaggedError<AskLost>("@mcpfx/server/AskLost")("AskLost", { key: Schema.String }) {
  override get message(): string {
    return `The question "${this.key}" was interrupted by its handler before it was sent`
  }
}

/**
 * The conversation that a model was to go on with breaks the rules of tool calls and their results (SMP-05).
 *
 * @category errors
 * @since 0.1.0
 */
export class TurnsMismatch
  extends Schema.TaggedError<TurnsMismatch>("@mcpfx/server/TurnsMismatch")("TurnsMismatch", { detail: Schema.String })
{
  override get message(): string {
    return `The messages for the model do not fit together: ${this.detail}`
  }
}

/**
 * The state of a round is too large to travel (`stateBytes`) or to be kept (`keptStateBytes`); `key` is the question or the step that has the largest part in it. A
 * `StateStore` keeps states on the server.
 *
 * @category errors
 * @since 0.1.0
 */
export class StateTooLarge extends Schema.TaggedError<StateTooLarge>("@mcpfx/server/StateTooLarge")("StateTooLarge", {
  key: Schema.String,
  bytes: Schema.Int,
  limit: Schema.Int
}) {
  override get message(): string {
    return `The state of the request has ${this.bytes} bytes, at most ${this.limit} are allowed; ` +
      `the largest part is "${this.key}"`
  }
}

/**
 * One request asked in more rounds than it may (`rounds` of the server's limits).
 *
 * @category errors
 * @since 0.1.0
 */
export class TooManyRounds extends Schema.TaggedError<TooManyRounds>("@mcpfx/server/TooManyRounds")("TooManyRounds", {
  limit: Schema.Int
}) {
  override get message(): string {
    return `A request took more than ${this.limit} rounds, the limit named rounds`
  }
}

/**
 * A store of states, steps or claims could not be reached, or has something else under its keys.
 *
 * @category errors
 * @since 0.1.0
 */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>("@mcpfx/server/StoreUnavailable")(
  "StoreUnavailable",
  { store: Schema.Literals(["states", "steps", "claims"]), operation: Schema.String, cause: Schema.Defect() }
) {
  override get message(): string {
    return `The store of ${this.store} could not ${this.operation}`
  }
}
