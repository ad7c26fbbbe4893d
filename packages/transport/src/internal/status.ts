import * as Codes from "./codes.ts"

/**
 * The HTTP status of an answer of 2026-07-28 by its error code, where no byte of it was sent yet (HTTP-50, HTTP-52,
 * HTTP-53, META-13). Every other error is an answer like any other; so is every error of the revisions before.
 */
export const statusOf = (code: number): number => {
  switch (code) {
    case Codes.HeaderMismatch:
    case Codes.MissingRequiredClientCapability:
    case Codes.UnsupportedProtocolVersion:
      return 400
    case Codes.MethodNotFound:
      return 404
    default:
      return 200
  }
}
