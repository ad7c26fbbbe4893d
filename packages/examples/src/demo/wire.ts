/** Shows what goes over a wire: a transport that prints every message on its way. */
import { JsonRpc } from "@mcpfx/schema"
import { ClientTransport } from "@mcpfx/transport"
import { Effect, Layer } from "effect"

const width = 110

const shorten = (text: string): string => text.length <= width ? text : `${text.slice(0, width - 1)}…`

/** One line for one message: what it is, and how its body starts. */
export const summary = (message: JsonRpc.Outgoing): string => {
  if (message instanceof JsonRpc.EncodedSuccess) return shorten(`result ${message.id}  ${message.result.json}`)
  if (JsonRpc.isRequest(message)) {
    return shorten(`${message.method} ${message.id}  ${JSON.stringify(message.params ?? {})}`)
  }
  if (JsonRpc.isNotification(message)) return shorten(`${message.method}  ${JSON.stringify(message.params ?? {})}`)
  return JsonRpc.isFailure(message)
    ? shorten(`error ${message.id}  ${JSON.stringify(message.error)}`)
    : shorten(`result ${message.id}  ${JSON.stringify(message.result)}`)
}

/** The same transport, with every message handed to `print` in the order it passes. */
export const tapped = (print: (line: string) => void) =>
  Layer.effect(
    ClientTransport.ClientTransport,
    Effect.map(ClientTransport.ClientTransport, (transport) => ({
      ...transport,
      connect: (endpoint) =>
        Effect.map(
          transport.connect({
            ...endpoint,
            handle: (exchange) => {
              print(`  ← ${summary(exchange.message)}`)
              return endpoint.handle(exchange)
            }
          }),
          (link) => ({
            ...link,
            send: (message, options) => {
              print(`  → ${summary(message)}`)
              return link.send(message, options)
            }
          })
        )
    }))
  )
