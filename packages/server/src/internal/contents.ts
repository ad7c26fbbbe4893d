/** What handlers of resources return, and how it is written as contents. */
import type { JsonObject } from "@mcpfx/schema/JsonRpc"
import type * as Resource from "@mcpfx/schema/Resource"
import * as Base64 from "effect/encoding/Base64"
import type * as Option from "effect/Option"
import type { CacheHint } from "../Entry.ts"

interface Common {
  /** Default: the URI that is read. */
  readonly uri?: string | undefined
  /** Default: the type of the registration. Any type goes, parameters included (RES-07 of field practice). */
  readonly mimeType?: string | undefined
  readonly _meta?: JsonObject | undefined
}

/**
 * One piece of a resource: a text, bytes, or contents of their own URI and type. A `blob` that is a string is base64 already.
 *
 * @category models
 * @since 0.1.0
 */
export type Piece =
  | string
  | Uint8Array
  | Common & { readonly text: string }
  | Common & { readonly blob: Uint8Array | string }

/**
 * @category models
 * @since 0.1.0
 */
export type Pieces = Piece | ReadonlyArray<Piece>

/**
 * What a handler gives when its contents are not all there is to say. It is recognised by being an instance of this class:
 * see `ServerResource.result`.
 *
 * @category models
 * @since 0.1.0
 */
export class Result<out Content = never> {
  readonly value: Option.Option<Content>
  readonly contents: Pieces
  readonly cache: CacheHint | undefined
  readonly meta: JsonObject | undefined
  constructor(
    value: Option.Option<Content>,
    contents: Pieces,
    cache: CacheHint | undefined,
    meta: JsonObject | undefined
  ) {
    this.value = value
    this.contents = contents
    this.cache = cache
    this.meta = meta
  }
}

const isPiece = (u: unknown): u is Piece =>
  typeof u === "string" || u instanceof Uint8Array || (typeof u === "object" && u !== null && (
    ("text" in u && typeof u.text === "string") ||
    ("blob" in u && (typeof u.blob === "string" || u.blob instanceof Uint8Array))
  ))

export const isPieces = (u: unknown): u is Pieces => Array.isArray(u) ? u.every(isPiece) : isPiece(u)

const isList = (pieces: Pieces): pieces is ReadonlyArray<Piece> => Array.isArray(pieces)

/** The standard alphabet, with padding, without a prefix (RES-06 of field practice). */
const base64 = (blob: string | Uint8Array): string => typeof blob === "string" ? blob : Base64.encode(blob)

const toContents = (piece: Piece, uri: string, mimeType: string | undefined): Resource.Contents => {
  if (typeof piece === "string") return toContents({ text: piece }, uri, mimeType)
  if (piece instanceof Uint8Array) return toContents({ blob: piece }, uri, mimeType)
  const type = piece.mimeType ?? mimeType
  const common = {
    uri: piece.uri ?? uri,
    ...(type === undefined ? undefined : { mimeType: type }),
    ...(piece._meta === undefined ? undefined : { _meta: piece._meta })
  }
  return "text" in piece ? { ...common, text: piece.text } : { ...common, blob: base64(piece.blob) }
}

/** Every piece gets the type of the registration unless it has one. */
export const write = (pieces: Pieces, uri: string, mimeType: string | undefined): ReadonlyArray<Resource.Contents> =>
  (isList(pieces) ? pieces : [pieces]).map((piece) => toContents(piece, uri, mimeType))
