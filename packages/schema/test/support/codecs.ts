/** Codecs for tests that read by hand. */
import { Result } from "effect"
import type * as Method from "../../src/Method.ts"
import type { RequestCodec, Revision } from "../../src/Revision.ts"
import * as Revisions from "../../src/Revisions.ts"

export const legacy = Revisions.all.filter((revision) => revision.era === "legacy")

/** The codec of a method that the revision is known to have. */
export const codec = <N extends string, P, R>(
  revision: Revision,
  method: Method.RequestMethod<N, P, R>
): RequestCodec<P, R> => {
  const found = revision.request(method)
  if (found === undefined) throw new Error(`${method.name} on ${revision.version}`)
  return found
}

/** Why something was not read, or that it was. */
export const refusal = (result: Result.Result<unknown, { readonly message: () => string }>): string =>
  Result.isFailure(result) ? result.failure.message() : "accepted"
