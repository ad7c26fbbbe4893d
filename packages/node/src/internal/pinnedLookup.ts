/** A lookup for connections that gives nothing but addresses it has checked. */
import { type AddressClass, classify } from "@mcpfx/auth/OutboundGuard"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as dns from "node:dns"
import { isIPv6, type LookupFunction } from "node:net"

/** A name leads to where nobody should be sent. */
export class AddressRefused extends Data.TaggedError("AddressRefused")<{ readonly message: string }> {}

/** A name leads nowhere, or could not be looked up in time. */
export class NameNotResolved extends Data.TaggedError("NameNotResolved")<{ readonly message: string }> {}

export type Resolve = (hostname: string) => Effect.Effect<ReadonlyArray<string>, unknown>

/** As the system looks names up for every program. */
export const resolveSystem: Resolve = (hostname) =>
  Effect.callback((resume) =>
    dns.lookup(
      hostname,
      { all: true },
      (error, addresses) =>
        resume(error === null ? Effect.succeed(addresses.map(({ address }) => address)) : Effect.fail(error))
    )
  )

export interface Options {
  readonly resolve: Resolve
  readonly timeout: Duration.Input
  /** Whether a name may lead anywhere. */
  readonly isOpen: (hostname: string) => boolean
  readonly allows: (kind: AddressClass) => boolean
}

type LookupError = AddressRefused | NameNotResolved

/** What is wrong with the addresses of a name: one that may not be fetched makes them all suspect. */
const faultOf = (hostname: string, addresses: ReadonlyArray<string>, options: Options): LookupError | undefined => {
  if (addresses.length === 0) return new NameNotResolved({ message: `${hostname} leads nowhere` })
  for (const address of addresses) {
    const kind = classify(address)
    if (kind === undefined) return new AddressRefused({ message: "its name leads to what is no address" })
    if (!options.allows(kind) && !options.isOpen(hostname)) {
      return new AddressRefused({ message: `its name leads to an address that is ${kind}` })
    }
  }
  return undefined
}

const check = (hostname: string, options: Options): Effect.Effect<ReadonlyArray<string>, LookupError> =>
  options.resolve(hostname).pipe(
    Effect.mapError(() => new NameNotResolved({ message: `${hostname} leads nowhere` })),
    Effect.timeoutOrElse({
      duration: options.timeout,
      orElse: () => Effect.fail(new NameNotResolved({ message: `${hostname} could not be looked up in time` }))
    }),
    Effect.flatMap((addresses): Effect.Effect<ReadonlyArray<string>, LookupError> => {
      const fault = faultOf(hostname, addresses, options)
      return fault === undefined ? Effect.succeed(addresses) : Effect.fail(fault)
    })
  )

const familyOf = (address: string): 4 | 6 => isIPv6(address) ? 6 : 4

/** Makes the lookup; what it runs ends with the scope. */
export const pinned = (options: Options): Effect.Effect<LookupFunction, never, Scope.Scope> =>
  Effect.map(
    Effect.all([Effect.context<never>(), Effect.scope]),
    ([context, scope]): LookupFunction => (hostname, { all, family }, callback) => {
      const fiber = Fiber.runIn(Effect.runForkWith(context)(check(hostname, options)), scope)
      fiber.addObserver((exit) => {
        if (Exit.isFailure(exit)) {
          const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
          return callback(error ?? new NameNotResolved({ message: `${hostname} could not be looked up` }), "")
        }
        const wanted = exit.value
          .map((address) => ({ address, family: familyOf(address) }))
          .filter((entry) =>
            family === undefined || family === 0 || family === `IPv${entry.family}` || family === entry.family
          )
        const [first] = wanted
        if (first === undefined) return callback(new NameNotResolved({ message: `${hostname} leads nowhere` }), "")
        if (all === true) callback(null, wanted)
        else callback(null, first.address, first.family)
      })
    }
  )
