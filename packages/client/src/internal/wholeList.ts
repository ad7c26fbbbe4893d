/** How one list is read: every page, within bounds, without the items that are wrong, and anew where it moves meanwhile. */
import * as Codes from "@mcpfx/schema/Codes"
import type * as Method from "@mcpfx/schema/Method"
import * as Salvage from "@mcpfx/schema/Salvage"
import type { PeerFailure, RequestOptions } from "@mcpfx/session/Peer"
import { InvalidResponse, MethodUnsupported, SessionClosed } from "@mcpfx/session/SessionError"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Connection, Live } from "../Connection.ts"
import type { McpClientError } from "../McpClientError.ts"
import * as Pages from "../Pages.ts"
import type { ResponseCache } from "../ResponseCache.ts"
import type { Kind } from "./listening.ts"
import type { Oddities } from "./oddities.ts"
import * as Offers from "./offers.ts"
import type { Requests } from "./requests.ts"

export interface Parts {
  readonly connection: Connection
  readonly requests: Requests
  readonly cache: ResponseCache
  readonly odd: Oddities
  readonly bounds: Pages.Bounds
  /** Counts how often the server said that a list has changed. */
  readonly changes: Readonly<Record<Kind, number>>
}

/** What the answers of all lists have. */
export interface Page {
  readonly nextCursor?: string
}

/** One list of the protocol. */
export interface Spec<Name extends string, R extends Page, A> {
  readonly kind: Kind
  readonly method: Method.RequestMethod<Name, { readonly cursor?: string }, R>
  readonly items: (result: R) => ReadonlyArray<A>
  /** What tells an item from the others. */
  readonly key: (item: A) => string
}

/** The list, whole; empty where the server does not offer it. */
export const make = <Name extends string, R extends Page, A>(
  parts: Parts,
  { items, key, kind, method }: Spec<Name, R, A>
): Effect.Effect<ReadonlyArray<A>, McpClientError> => {
  const { bounds, cache, changes, connection, odd, requests } = parts
  const table = cache.table<R>((change) => change.kind === kind)
  const pages = Effect.suspend(() => {
    let generation = 0
    let since = 0
    let isOutlived = false
    const page = (cursor: string | undefined) => {
      if (cursor === undefined) since = changes[kind]
      const params = cursor === undefined ? {} : { cursor }
      const sent = requests.cached(table, method.name, params, (live, options) => {
        if (cursor === undefined) generation = live.generation
        isOutlived = live.generation !== generation && live.revision.era === "legacy"
        return isOutlived ? outlived : read(odd, live, method, params, options)
      })
      return Effect.map(sent, (result): Pages.Page<A> => ({ items: items(result), nextCursor: result.nextCursor }))
    }
    const isStale = ({ reason }: McpClientError): boolean => {
      if (isOutlived) return true
      const isRefused = reason._tag === "Refused" && reason.code === Codes.invalidParams
      if (isRefused) cache.invalidate({ kind })
      return isRefused
    }
    const hasMoved = () => changes[kind] !== since
    return Pages.all({ server: connection.target, bounds, page, key, isStale, hasMoved })
  })
  return Effect.flatMap(
    connection.live,
    (live) => Offers.missing(live, method.name) === undefined ? pages : Effect.succeed([])
  )
}

/** Cursors of up to 2025-11-25 end with their session (PAG-03). */
const outlived = Effect.fail(
  new SessionClosed({ reason: "disconnected", detail: "the session ended in the middle of a list" })
)

/** Asks for one page, and reads what of it can be read. */
const read = <Name extends string, Params, R>(
  odd: Oddities,
  live: Live,
  method: Method.RequestMethod<Name, Params, R>,
  params: Params,
  options: RequestOptions
): Effect.Effect<R, PeerFailure> => {
  const codec = live.revision.request(method)
  if (codec === undefined) {
    return Effect.fail(new MethodUnsupported({ method: method.name, revision: live.revision.version }))
  }
  return Effect.flatMap(live.session.peer.requestRaw(method.name, codec.encodeParams(params), options), (wire) => {
    const salvaged = Salvage.list(codec, wire)
    if (Result.isFailure(salvaged)) {
      return Effect.fail(new InvalidResponse({ method: method.name, detail: salvaged.failure.message() }))
    }
    const { faults, result } = salvaged.success
    return faults.length === 0
      ? Effect.succeed(result)
      : Effect.as(Effect.forEach(faults, (fault) => odd(sentence(method.name, fault)), { discard: true }), result)
  })
}

const sentence = (method: string, { index, name, reason, repaired }: Salvage.Fault): string =>
  `${method}: ${name === undefined ? `item ${index}` : `"${name}"`} is ${
    repaired ? "put right" : "left out"
  }: ${reason}`
