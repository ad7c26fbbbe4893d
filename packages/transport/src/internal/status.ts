import * as Codes from "@mcpfx/schema/Codes"

/**
 * The HTTP status of an answer of 2026-07-28 by its error code, where no byte of it was sent yet (HTTP-50, HTTP-52,
 * HTTP-53, META-13). Errors that handlers make up are answers like any other.
 */
export const statusOf = (code: number): number => Codes.byCode(code)?.httpStatus ?? 200
