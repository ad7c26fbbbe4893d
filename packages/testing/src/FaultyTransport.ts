/**
 * A transport that goes wrong by a plan: messages that are lost, late, doubled or out of order, and connections that are cut.
 *
 * It wraps any transport of a client, works under the test clock, and the same plan goes wrong in the same way every time.
 *
 * @since 0.1.0
 */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { ClientTransport } from "@mcpfx/transport/ClientTransport"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { wire } from "./internal/faulty.ts"

/**
 * What becomes of one message.
 *
 * @category models
 * @since 0.1.0
 */
export type Fault =
  | { readonly _tag: "Deliver" }
  | { readonly _tag: "Drop" }
  | { readonly _tag: "Delay"; readonly duration: Duration.Duration }
  | { readonly _tag: "Duplicate" }
  | { readonly _tag: "Hold"; readonly messages: number }
  | { readonly _tag: "Replace"; readonly message: JsonRpc.Message }
  | { readonly _tag: "Cut" }

/** It arrives as it is. @category faults @since 0.1.0 */
export const deliver: Fault = { _tag: "Deliver" }

/** It is lost. @category faults @since 0.1.0 */
export const drop: Fault = { _tag: "Drop" }

/** It arrives after a time; what is sent later may overtake it. @category faults @since 0.1.0 */
export const delay = (duration: Duration.Input): Fault => ({
  _tag: "Delay",
  duration: Duration.fromInputUnsafe(duration)
})

/** It arrives twice. @category faults @since 0.1.0 */
export const duplicate: Fault = { _tag: "Duplicate" }

/** It arrives after the next `messages` of its direction. @category faults @since 0.1.0 */
export const hold = (messages: number): Fault => ({ _tag: "Hold", messages })

/** Another one arrives in its place. @category faults @since 0.1.0 */
export const replace = (message: JsonRpc.Message): Fault => ({ _tag: "Replace", message })

/** It is lost and the connection with it. @category faults @since 0.1.0 */
export const cut: Fault = { _tag: "Cut" }

/**
 * Decides about a message by what it is and how many of its direction came before it on this connection.
 *
 * @category models
 * @since 0.1.0
 */
export type Decide = (message: JsonRpc.Message, index: number) => Fault

/**
 * What goes wrong in each direction; nothing where it says nothing.
 *
 * @category models
 * @since 0.1.0
 */
export interface Plan {
  readonly toServer?: Decide | undefined
  readonly toClient?: Decide | undefined
}

/**
 * One fault for each message, in order; those after the last are delivered.
 *
 * **Example** (The first message is lost)
 *
 * ```ts
 * import { FaultyTransport } from "@mcpfx/testing"
 *
 * const plan: FaultyTransport.Plan = { toServer: FaultyTransport.script([FaultyTransport.drop]) }
 * ```
 *
 * @category plans
 * @since 0.1.0
 */
export const script = (faults: ReadonlyArray<Fault>): Decide => (_, index) => faults[index] ?? deliver

/**
 * How often each fault happens, between 0 and 1; the rest is delivered.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rates {
  readonly drop?: number | undefined
  readonly duplicate?: number | undefined
  readonly hold?: number | undefined
  readonly delay?: number | undefined
  readonly cut?: number | undefined
  /** The longest delay; 100 milliseconds by default. */
  readonly maxDelay?: Duration.Input | undefined
}

/** A number between 0 and 1 that follows from a seed and an index alone. */
const noise = (seed: number, index: number): number => {
  let n = (seed ^ Math.imul(index + 1, 0x9e3779b1)) >>> 0
  n = Math.imul(n ^ (n >>> 16), 0x85ebca6b) >>> 0
  n = Math.imul(n ^ (n >>> 13), 0xc2b2ae35) >>> 0
  return ((n ^ (n >>> 16)) >>> 0) / 2 ** 32
}

/**
 * Faults at random, the same ones for the same seed.
 *
 * @category plans
 * @since 0.1.0
 */
export const seeded = (seed: number, rates: Rates): Decide => {
  const maxDelay = Duration.toMillis(rates.maxDelay ?? "100 millis")
  return (_, index) => {
    const second = noise(seed + 1, index)
    const choices: ReadonlyArray<readonly [rate: number | undefined, fault: () => Fault]> = [
      [rates.drop, () => drop],
      [rates.duplicate, () => duplicate],
      [rates.hold, () => hold(1 + Math.floor(second * 3))],
      [rates.delay, () => delay(1 + Math.floor(second * maxDelay))],
      [rates.cut, () => cut]
    ]
    let left = noise(seed, index)
    for (const [rate = 0, fault] of choices) {
      if (left < rate) return fault()
      left -= rate
    }
    return deliver
  }
}

/**
 * Wraps a transport so that each of its connections goes wrong by `plan`.
 *
 * **Example** (Every answer comes twice)
 *
 * ```ts
 * import { FaultyTransport } from "@mcpfx/testing"
 * import { Memory } from "@mcpfx/transport"
 * import { Layer } from "effect"
 *
 * const twice = FaultyTransport.layer({ toClient: () => FaultyTransport.duplicate })
 * const transport = Layer.provide(twice, Memory.layer)
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (inner: ClientTransport["Service"], plan: Plan): ClientTransport["Service"] => ({
  kind: inner.kind,
  target: inner.target,
  connect: (client) => wire(inner, plan, client)
})

/**
 * The transport in the context, going wrong by `plan`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (plan: Plan): Layer.Layer<ClientTransport, never, ClientTransport> =>
  Layer.effect(ClientTransport, Effect.map(ClientTransport, (inner) => make(inner, plan)))
