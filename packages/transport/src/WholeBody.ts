/**
 * Bodies that a server has read before it handed their requests on.
 *
 * A small body has arrived whole before anybody could ask for it. A server that says so on the request spares the endpoint
 * the wait for it.
 *
 * @since 0.1.0
 */
import { hasProperty } from "effect/Predicate"

/**
 * @category type ids
 * @since 0.1.0
 */
export const TypeId = "~@mcpfx/transport/WholeBody"

/**
 * What a request has beside what every `HttpServerRequest` has.
 *
 * @category models
 * @since 0.1.0
 */
export interface WholeBody {
  /** All bytes of the body; `undefined` where nobody has read them. */
  readonly [TypeId]: Uint8Array | undefined
}

/**
 * The bytes of a body that is there already.
 *
 * **Example** (A request with its body, and one without)
 *
 * ```ts
 * import { WholeBody } from "@mcpfx/transport"
 *
 * WholeBody.bytesOf({ [WholeBody.TypeId]: new Uint8Array(2) })?.length // => 2
 * WholeBody.bytesOf({}) // => undefined
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const bytesOf = (request: object): Uint8Array | undefined => {
  if (!hasProperty(request, TypeId)) return undefined
  const bytes = request[TypeId]
  return bytes instanceof Uint8Array ? bytes : undefined
}
