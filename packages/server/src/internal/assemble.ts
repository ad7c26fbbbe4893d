/** Puts an endpoint together: first what it shares with nobody, then what is registered, then its door. */
import * as SessionLimits from "@mcpfx/session/SessionLimits"
import type { SessionFactory, Sessions } from "@mcpfx/session/Sessions"
import type { Endpoint } from "@mcpfx/transport/Endpoint"
import type * as Guard from "@mcpfx/transport/Guard"
import * as Limits from "@mcpfx/transport/Limits"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as ChangeBus from "../ChangeBus.ts"
import * as McpEndpoint from "../McpEndpoint.ts"
import * as Registry from "../Registry.ts"
import type { InvalidOptions } from "../ServerError.ts"
import * as ServerLimits from "../ServerLimits.ts"
import type { Http } from "./http.ts"
import * as Settings from "./settings.ts"
import { checkKeys } from "./stateKeys.ts"
import { RequestState } from "./statePort.ts"

/** What an endpoint provides to its registrations. */
export type Provided = Registry.Registry | ChangeBus.ChangeBus | SecureRandom.SecureRandom

/** Overrides apply to all that is built below, transports included. */
export const limitsOf = (options: Settings.ServerOptions): Layer.Layer<never> => {
  const limits = options.limits ?? {}
  return Layer.mergeAll(ServerLimits.layer(limits), SessionLimits.layer(limits), Limits.layer(limits))
}

/** A bus that several endpoints are to share, such as one across machines, is provided from outside. */
const bus: Layer.Layer<ChangeBus.ChangeBus> = Layer.unwrap(
  Effect.map(
    Effect.serviceOption(ChangeBus.ChangeBus),
    Option.match({
      onNone: () => ChangeBus.layerMemory,
      onSome: (outer) => Layer.succeed(ChangeBus.ChangeBus, outer)
    })
  )
)

/** Options of an endpoint, and what its transport says about who can reach it. */
export interface Placed extends Settings.ServerOptions, Pick<Guard.Options, "allowedHosts"> {}

/** Keys from the options will do, or none are needed. */
const checkedKeys = (options: Placed, settings: Settings.Settings, http: Http) =>
  Effect.gen(function*() {
    if (Option.isSome(yield* Effect.serviceOption(RequestState))) return
    if (settings.stateKeys === undefined) yield* http.requireKeys(options, settings)
    else yield* Effect.fromResult(checkKeys(settings.stateKeys))
  })

/**
 * An endpoint of its own for `registrations`, which are built anew for it. They stand before the endpoint does, so that no
 * request meets half of them. Its sessions are in `directory`; `http` is how it is reached beside connections.
 */
export const assemble = <A, E, R, E2, R2>(
  registrations: Layer.Layer<A, E, R>,
  options: Placed,
  directory: Layer.Layer<Sessions, E2, R2>,
  http: Http
): Layer.Layer<
  Endpoint | McpEndpoint.McpEndpoint,
  E | E2 | InvalidOptions,
  Exclude<R, Provided> | Exclude<Exclude<R2, SessionFactory>, Provided>
> => {
  const base = Layer.provideMerge(Registry.layer, Layer.merge(bus, SecureRandom.layerWebCrypto))
  // What registrations provide beside being registered is theirs alone.
  const registered: Layer.Layer<Provided, E, Exclude<R, Provided>> = Layer.provideMerge(registrations, base)
  const door = Layer.unwrap(
    Effect.gen(function*() {
      const settings = yield* Effect.fromResult(Settings.make(options, yield* ServerLimits.ServerLimits))
      yield* checkedKeys(options, settings, http)
      return McpEndpoint.layer(settings, directory, http)
    })
  )
  return Layer.fresh(Layer.provide(Layer.provide(door, registered), limitsOf(options)))
}
