/**
 * Why a person could not be shown a page, or did not answer.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * No browser shows the page: somebody has to be told of it in another way.
 *
 * - `address`: the address is not one for a browser, or longer than any would take
 * - `headless`: there is no screen, or nobody in front of it: a server, a job, a shell on another machine
 * - `absent`: nothing that opens pages is installed
 * - `failed`: what opens pages said that it could not
 *
 * **Example** (What a machine without a screen says)
 *
 * ```ts
 * import { LoginError } from "@mcpfx/node"
 *
 * const error = new LoginError.CannotOpen({ reason: "headless", detail: "neither DISPLAY nor WAYLAND_DISPLAY is set" })
 * error.message // => "no browser was opened: neither DISPLAY nor WAYLAND_DISPLAY is set"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class CannotOpen extends Schema.TaggedError<CannotOpen>("@mcpfx/node/CannotOpen")("CannotOpen", {
  reason: Schema.Literals(["address", "headless", "absent", "failed"]),
  detail: Schema.String
}) {
  override get message(): string {
    return `no browser was opened: ${this.detail}`
  }
}

/**
 * A question at the terminal was not answered.
 *
 * - `closed`: there is nobody to type an answer any more
 * - `quit`: the person turned away with Ctrl-C
 *
 * @category errors
 * @since 0.1.0
 */
export class Unanswered extends Schema.TaggedError<Unanswered>("@mcpfx/node/Unanswered")("Unanswered", {
  reason: Schema.Literals(["closed", "quit"])
}) {
  override get message(): string {
    return this.reason === "quit" ? "the person turned away from the question" : "nobody is at the terminal"
  }
}
