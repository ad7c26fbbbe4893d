/**
 * Why nobody listens.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The address could not be listened at.
 *
 * - `taken`: somebody else listens there
 * - `forbidden`: this process may not, such as at a port below 1024
 * - `absent`: no interface of this machine has the address
 * - `failed`: what `code` says
 *
 * **Example** (A port that is taken)
 *
 * ```ts
 * import { ListenerError } from "@mcpfx/node"
 *
 * const error = new ListenerError.CannotListen({ reason: "taken", code: "EADDRINUSE", address: "127.0.0.1:3000" })
 * error.message // => "cannot listen at 127.0.0.1:3000: taken (EADDRINUSE)"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class CannotListen extends Schema.TaggedError<CannotListen>("@mcpfx/node/CannotListen")("CannotListen", {
  reason: Schema.Literals(["taken", "forbidden", "absent", "failed"]),
  code: Schema.String,
  address: Schema.String
}) {
  override get message(): string {
    return `cannot listen at ${this.address}: ${this.reason} (${this.code})`
  }
}

/**
 * An endpoint that answers to the names of the loopback interface would be listened for on another one, where everybody can
 * send such a name (HTTP-04): it needs `allowedHosts`.
 *
 * @category errors
 * @since 0.1.0
 */
export class Exposed extends Schema.TaggedError<Exposed>("@mcpfx/node/Exposed")("Exposed", {
  host: Schema.String
}) {
  override get message(): string {
    return `an endpoint without allowedHosts is not to be reached at ${this.host}: give it the names it is reached by`
  }
}
