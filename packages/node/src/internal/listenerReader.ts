/** How a client takes an answer: as fast as it reads, to the end or not at all. */
import * as Effect from "effect/Effect"
import type { ServerResponse } from "node:http"
import type { Exchange } from "./listenerRequest.ts"

/** An answer from so many bytes on may wait for its client, and is worth letting go of. */
export const large = 16_384

/** Waits until the client has taken what waits for it. */
export const drained = ({ owner, response: out }: Exchange): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const before = out.socket?.timeout ?? 0
    const onDrain = () => {
      out.setTimeout(before)
      resume(Effect.void)
    }
    out.once("drain", onDrain)
    out.setTimeout(owner.deadReader)
    return Effect.sync(() => out.off("drain", onDrain))
  })

/** Ends an answer, which is cut where the client takes nothing of it; what is small has left already. */
export const end = (
  { owner, response: out }: Exchange,
  body?: string | Uint8Array,
  encoding: BufferEncoding = "utf8"
): void => {
  out.end(body, encoding)
  if (body === undefined || body.length >= large) out.setTimeout(owner.deadReader)
}

/** Cuts an answer in such a way that nobody takes what there is for all of it. */
export const cut = (out: ServerResponse): void => {
  // To HTTP/1.0 the end of the connection is the end of the answer, unless it is a reset.
  if (out.req.httpVersionMinor === 0 && !("encrypted" in out.req.socket)) out.req.socket.resetAndDestroy()
  else out.destroy()
}
