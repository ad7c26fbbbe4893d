/** How requests are sent: not what is not offered, with the client's own options, and from the kept answers if they may be. */
import type * as Method from "@mcpfx/schema/Method"
import type { PeerFailure, RequestOptions } from "@mcpfx/session/Peer"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ClientOptions } from "../ClientOptions.ts"
import type { Connection, Live } from "../Connection.ts"
import type { McpClient } from "../McpClient.ts"
import { BadInput, fail, type McpClientError } from "../McpClientError.ts"
import type { Table } from "../ResponseCache.ts"
import type { Extensions } from "./extensions.ts"
import type { LogLevel } from "./logs.ts"
import * as Offers from "./offers.ts"

/** Sends over an open connection, with options that are complete. */
type Run<A> = (live: Live, options: RequestOptions) => Effect.Effect<A, PeerFailure>

type Use = <A>(method: string, run: Run<A>, options?: RequestOptions) => Effect.Effect<A, McpClientError>

export interface Requests extends Pick<McpClient["Service"], "request" | "requestRaw" | "notifyRaw"> {
  readonly use: Use
  /** The same, looked at when it is called: for effects that are under way. */
  readonly useNow: Use
  /** The same, where answers may be kept in `table`. */
  readonly cached: <A>(
    table: Table<A>,
    method: string,
    params: object,
    run: Run<A>,
    options?: RequestOptions
  ) => Effect.Effect<A, McpClientError>
}

const oneCaller = Effect.succeed("")
const ignored = () => Effect.void

export const make = (
  connection: Connection,
  logLevel: LogLevel,
  defaults: ClientOptions,
  extensions: Extensions
): Requests => {
  const { caller = oneCaller } = defaults

  const complete = (options: RequestOptions | undefined, meta: RequestOptions["meta"]): RequestOptions => {
    const maxTimeout = options?.maxTimeout ?? defaults.maxTimeout
    return {
      ...options,
      timeout: options?.timeout ?? defaults.timeout,
      maxTimeout,
      meta,
      // Who says how far progress may move the deadline wants it moved, also where nobody looks on.
      onProgress: options?.onProgress ?? (maxTimeout === undefined ? undefined : ignored)
    }
  }

  const plain = complete(undefined, undefined)

  const optionsFor = (live: Live, options: RequestOptions | undefined): RequestOptions => {
    const meta = logLevel.meta(live, options?.meta)
    return options === undefined && meta === undefined ? plain : complete(options, meta)
  }

  const useNow: Use = (method, run, options) =>
    connection.useNow(method, (live) => {
      const missing = Offers.missing(live, method) ?? extensions.missing(live, method)
      return missing === undefined ? run(live, optionsFor(live, options)) : Effect.fail(missing)
    })

  const use: Use = (method, run, options) => Effect.suspend(() => useNow(method, run, options))

  const request = <Name extends string, Params, Result>(
    method: Method.RequestMethod<Name, Params, Result>,
    params: Params,
    options?: RequestOptions
  ) => {
    const sent = use(method.name, (live, merged) => live.session.peer.request(method, params, merged), options)
    return method.custom === undefined ? sent : Effect.suspend(() => {
      const encoded = method.custom?.encodeParams(params)
      return encoded === undefined || Result.isSuccess(encoded)
        ? sent
        : Effect.fail(fail(new BadInput({ detail: encoded.failure.message() }), method.name))
    })
  }

  const cached: Requests["cached"] = (table, method, params, run, options) => {
    // Headers and members of `_meta` may change the answer in ways that nobody here can know.
    if (options?.headers !== undefined || options?.meta !== undefined) return use(method, run, options)
    return Effect.flatMap(caller, (who) =>
      Effect.clockWith((clock) => {
        const kept = table.get(params, who, clock.currentTimeMillisUnsafe())
        if (kept !== undefined) return Effect.succeed(kept)
        const since = table.changes()
        let isModern = false
        const sent = use(method, (live, merged) => {
          isModern = live.revision.era === "modern"
          return run(live, merged)
        }, options)
        return Effect.map(sent, (result) => {
          if (isModern) table.put(params, who, result, clock.currentTimeMillisUnsafe(), since)
          return result
        })
      }))
  }

  return {
    use,
    useNow,
    cached,
    request,
    requestRaw: (method, params = {}, options) =>
      connection.use(method, (live) => live.session.peer.requestRaw(method, params, optionsFor(live, options))),
    notifyRaw: (method, params = {}) => connection.use(method, (live) => live.session.peer.notifyRaw(method, params))
  }
}
