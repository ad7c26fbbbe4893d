/** What becomes of the rest of a body that nobody read, once the answer is written. */
import * as Effect from "effect/Effect"
import type { OutgoingHttpHeaders } from "node:http"
import type { Socket } from "node:net"
import type { Exchange } from "./listenerRequest.ts"

/** What is thrown away to keep the connection; past that it is closed. */
const most = 262_144

/** What the client gets to read the answer, before closing could take it from it. */
const grace = "500 millis"

/** Whether a body comes with a request, or may; Node has read the head alone when it hands a request on. */
export const mayHaveBody = ({ awaitsContinue, request: { headers } }: Exchange): boolean =>
  awaitsContinue || headers["transfer-encoding"] !== undefined || headers["content-length"] !== undefined

/** Whether the connection has to end with the answer: for what is left of the body it is not worth keeping. */
export const isTooMuch = ({ awaitsContinue, bytesRead, request }: Exchange): boolean => {
  if (awaitsContinue) return true
  const length = request.headers["content-length"]
  return length !== undefined && Number(length) - bytesRead > most
}

const close = (socket: Socket): void => {
  if (socket.destroyed) return
  // Node would call it as soon as the answer is written: a connection that is cut while bytes come is reset, answer and all.
  socket.destroySoon = () => {}
  socket.end()
  const fiber = Effect.runFork(Effect.andThen(Effect.sleep(grace), Effect.sync(() => socket.destroy())))
  socket.once("close", () => fiber.interruptUnsafe())
}

/**
 * Has the rest of a body read and forgotten after the answer, within bounds: Node by itself reads on to its end, however
 * long that is, and cuts a closing connection while the client still sends, which can lose the answer.
 */
export const discardRest = ({ request, response }: Exchange, closing: boolean): void => {
  response.prependListener("finish", () => {
    if (request.complete || request.destroyed) return
    let bytes = 0
    const forget = (chunk: Uint8Array): void => {
      bytes += chunk.length
      if (bytes <= most) return
      request.off("data", forget)
      request.pause()
      close(request.socket)
    }
    if (closing) return close(request.socket)
    request.on("data", forget)
    request.resume()
  })
}

/** Answers before anybody has looked at the request, and ends the connection. */
export const refuse = (exchange: Exchange, status: number, headers: OutgoingHttpHeaders = {}): void => {
  if (!exchange.request.complete) discardRest(exchange, true)
  exchange.response.writeHead(status, { ...headers, connection: "close", "content-length": "0" }).end()
}
