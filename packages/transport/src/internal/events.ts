import * as Sse from "../Sse.ts"

/** How the messages of one stream become events; the one place where a stream's events get ids. */
export interface EventEncoder {
  /** The event a stream starts with, if any (HTTP-28). */
  readonly prime: string | undefined
  readonly encode: (json: string) => string
}

/** Events that cannot be resumed from. */
export const plain: EventEncoder = { prime: undefined, encode: (json) => Sse.encode({ data: json }) }
