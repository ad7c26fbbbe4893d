/** What passed over a connection, as lines: the proof of what a peer did. */
export class Wire {
  readonly lines: Array<string> = []

  sent(message: unknown): void {
    this.lines.push(`→ ${typeof message === "string" ? message : JSON.stringify(message)}`)
  }

  received(message: unknown): void {
    this.lines.push(`← ${typeof message === "string" ? message : JSON.stringify(message)}`)
  }
}

interface Sending {
  readonly send: (...args: Array<never>) => unknown
  onmessage?: unknown
}

const isHandler = (u: unknown): u is (...args: ReadonlyArray<unknown>) => unknown => typeof u === "function"

/**
 * Writes down what a transport of an SDK sends and hears, and gives the transport back: its class counts for the SDK, so
 * nothing can be put in its place.
 */
export const tap = <T extends Sending>(transport: T, wire: Wire): T => {
  const send = transport.send
  let heard: unknown
  Object.defineProperties(transport, {
    send: {
      value: (...args: ReadonlyArray<unknown>) => {
        wire.sent(args[0])
        return Reflect.apply(send, transport, args)
      }
    },
    onmessage: {
      get: () => heard,
      set: (handler: unknown) => {
        heard = isHandler(handler)
          ? (...args: ReadonlyArray<unknown>) => {
            wire.received(args[0])
            return Reflect.apply(handler, transport, args)
          }
          : handler
      }
    }
  })
  return transport
}

/** `fetch` that writes down methods and statuses. */
export const tappedFetch = (wire: Wire) => async (url: string | URL, init?: RequestInit): Promise<Response> => {
  const response = await fetch(url, init)
  wire.received(`HTTP ${init?.method ?? "GET"} ${response.status}`)
  return response
}
