/**
 * What can go wrong with a lock.
 *
 * **Example** (Who holds it)
 *
 * ```ts
 * import { FileLockError } from "@mcpfx/node"
 *
 * const error = new FileLockError.FileLockError({ path: "a.lock", reason: "late", pid: 7, detail: "process 7 holds it" })
 * error.message // => "the lock a.lock: process 7 holds it"
 * ```
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The lock was not had, or not to the end.
 *
 * - `late`: somebody else held it for all of the time that could be waited
 * - `lost`: somebody else took it, as this process had shown no sign of life for too long; what ran was interrupted
 * - `failed`: the file system did not do what it was asked to
 *
 * @category errors
 * @since 0.1.0
 */
export class FileLockError extends Schema.TaggedError<FileLockError>("@mcpfx/node/FileLockError")("FileLockError", {
  path: Schema.String,
  reason: Schema.Literals(["late", "lost", "failed"]),
  /** The process that holds it, where that is known. */
  pid: Schema.optionalKey(Schema.Int),
  detail: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    return `the lock ${this.path}: ${this.detail}`
  }
}
