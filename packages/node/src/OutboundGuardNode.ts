/**
 * Fetches addresses that others name with DNS checked: for servers, and for whoever fetches on behalf of others (SEC-05).
 *
 * The default guard sees what a URL says. This one sees where a name leads: it looks the name up once, refuses it where any
 * of its addresses is not to be fetched, and connects to one of those that it has checked, under the name that the URL has
 * (`Host` and TLS). Answers of DNS that change a moment later change nothing.
 *
 * Only whoever opens the connection can do that, so requests go out by Node's own `http` and `https`: what the client in
 * use makes of a request (headers, say) is kept, its way to the network is not. Certificates and other settings of the
 * connection are options here. It does not go through a proxy, which would look names up by itself.
 *
 * **Example** (A server that fetches keys)
 *
 * ```ts
 * import { OutboundGuardNode } from "@mcpfx/node"
 *
 * // The company's own login is in its network.
 * export const Guard = OutboundGuardNode.layer({ hosts: ["login.corp.example"] })
 * ```
 *
 * @since 0.1.0
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as OutboundGuard from "@mcpfx/auth/OutboundGuard"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { AddressRefused, pinned, type Resolve, resolveSystem } from "./internal/pinnedLookup.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options extends OutboundGuard.Options {
  /** Settings of the connections, such as `ca`. */
  readonly agent?: Omit<NodeHttpClient.HttpAgentOptions, "lookup" | "socketPath"> | undefined
  /** How long a name may take to look up. Default 5 seconds. */
  readonly resolveTimeout?: Duration.Input | undefined
  /** Looks a name up: all of its addresses. By default as the operating system does, hosts file and all. */
  readonly resolve?: Resolve | undefined
}

/** What the lookup refused, as the failure of the request. */
const refused = (
  request: HttpClientRequest.HttpClientRequest,
  error: HttpClientError.HttpClientError
): HttpClientError.HttpClientError => {
  const { reason } = error
  const cause = reason._tag === "TransportError" ? reason.cause : undefined
  return cause instanceof AddressRefused ? OutboundGuard.refusal(request, cause.message) : error
}

/** A client of Node under one policy. */
const makeClient = (
  policy: OutboundGuard.Policy,
  options: Options
): Effect.Effect<HttpClient.HttpClient, never, Scope.Scope> =>
  Effect.gen(function*() {
    const lookup = yield* pinned({
      resolve: options.resolve ?? resolveSystem,
      timeout: options.resolveTimeout ?? "5 seconds",
      isOpen: (hostname) => OutboundGuard.isOpenHost(hostname, options),
      allows: (kind) => OutboundGuard.allows(kind, policy, options)
    })
    const agent = yield* NodeHttpClient.makeAgent({ ...options.agent, lookup })
    return yield* Effect.provideService(NodeHttpClient.makeNodeHttp, NodeHttpClient.HttpAgent, agent)
  })

/**
 * Makes the guard, whose connections close with the scope.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Effect.Effect<OutboundGuard.OutboundGuard, never, Scope.Scope> =>
  Effect.gen(function*() {
    const near = yield* makeClient({ loopback: true }, options)
    const far = yield* makeClient({ loopback: false }, options)
    return {
      guard: (client, policy) =>
        HttpClient.makeWith(
          Effect.flatMap((request: HttpClientRequest.HttpClientRequest) =>
            OutboundGuard.checkLiteral(request, policy, options).pipe(
              Effect.andThen((policy.loopback ? near : far).execute(request)),
              Effect.mapError((error) => refused(request, error))
            )
          ),
          client.preprocess
        )
    }
  })

/**
 * Puts the guard in force.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<never> =>
  Layer.effect(OutboundGuard.CurrentOutboundGuard, make(options))
