/** What becomes of the rest of a body that nobody read, once the answer is written. */
import type { Socket } from "node:net"
import type { Exchange } from "./listenerRequest.ts"

/** What is thrown away to keep the connection; past that it is closed. */
const most = 262_144

/** What the client gets to read the answer, before closing could take it from it; milliseconds. */
const grace = 500

/** Whether the connection has to end with the answer: for what is left of the body it is not worth keeping. */
export const isTooMuch = ({ awaitsContinue, bytesRead, request }: Exchange): boolean => {
  if (awaitsContinue) return true
  const length = request.headers["content-length"]
  return length !== undefined && Number(length) - bytesRead > most
}

const close = ({ owner }: Exchange, socket: Socket): void => {
  if (socket.destroyed) return
  socket.end()
  socket.once("close", owner.later(grace, () => socket.destroy()))
}

/**
 * Has the rest of a body read and forgotten after the answer, within bounds: Node by itself reads on to its end, however
 * long that is, and cuts a closing connection while the client still sends, which can lose the answer.
 */
export const discardRest = (exchange: Exchange, closing: boolean): void => {
  const { request, response } = exchange
  response.prependListener("finish", () => {
    if (request.complete || request.destroyed) return
    let bytes = 0
    const forget = (chunk: Uint8Array): void => {
      bytes += chunk.length
      if (bytes <= most) return
      request.off("data", forget)
      request.pause()
      close(exchange, request.socket)
    }
    if (closing) return close(exchange, request.socket)
    request.on("data", forget)
    request.resume()
  })
}
