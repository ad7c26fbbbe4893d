/** The secrets that seal states, before anything is sealed with them. */
import * as Arr from "effect/Array"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { InvalidOptions } from "../ServerError.ts"
import type { Key } from "./statePort.ts"

const minimum = 32

export const textOf = (key: Key): string => Redacted.isRedacted(key) ? Redacted.value(key) : key

/** The keys if they will do: also looked at where nothing is ever sealed with them. */
export const checkKeys = (
  keys: ReadonlyArray<Key>
): Result.Result<Arr.NonEmptyReadonlyArray<Key>, InvalidOptions> => {
  if (!Arr.isReadonlyArrayNonEmpty(keys)) {
    return Result.fail(new InvalidOptions({ reason: "requestState needs at least one key" }))
  }
  return keys.every((key) => textOf(key).length >= minimum)
    ? Result.succeed(keys)
    : Result.fail(new InvalidOptions({ reason: `a key of requestState has at least ${minimum} characters` }))
}
