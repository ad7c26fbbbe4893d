/** Shows what goes over a wire: a transport that prints every message on its way. */
import { JsonRpc } from "@mcpfx/schema"
import { ClientTransport, type Exchange } from "@mcpfx/transport"
import { Effect, Layer } from "effect"

const width = 110

const shorten = (text: string, to = width): string => text.length <= to ? text : `${text.slice(0, to - 1)}…`

/** What a message is, and its body as JSON. */
const parts = (message: JsonRpc.Outgoing): readonly [head: string, body: string] => {
  if (message instanceof JsonRpc.EncodedSuccess) return [`result ${message.id}`, message.result.json]
  if (JsonRpc.isRequest(message)) return [`${message.method} ${message.id}`, JSON.stringify(message.params ?? {})]
  if (JsonRpc.isNotification(message)) return [message.method, JSON.stringify(message.params ?? {})]
  return JsonRpc.isFailure(message)
    ? [`error ${message.id}`, JSON.stringify(message.error)]
    : [`result ${message.id}`, JSON.stringify(message.result)]
}

/** One line for one message: what it is, and how its body starts. */
export const summary = (message: JsonRpc.Outgoing): string => shorten(parts(message).join("  "))

/** All of one message but what every message carries, wrapped; sealed state is shortened. */
export const whole = (message: JsonRpc.Outgoing): string => {
  const [head, body] = parts(message)
  const readable: string = JSON.stringify(JSON.parse(body), (name, value: unknown) => {
    if (name === "_meta") return undefined
    return name === "requestState" && typeof value === "string"
      ? `${shorten(value, 12)} ${value.length} characters`
      : value
  })
  return `${head}  ${readable}`.replace(new RegExp(`.{1,${width}}`, "g"), "$&\n    ").trimEnd()
}

/** What the server asks, with the client's answer shown too. */
const answered = (exchange: Exchange.Exchange, say: (message: JsonRpc.Outgoing) => void): Exchange.Exchange => {
  const { outlet } = exchange
  return {
    ...exchange,
    outlet: {
      answer: (message) => {
        say(message)
        outlet.answer(message)
      },
      end: () => outlet.end(),
      push: (message) => outlet.push(message)
    }
  }
}

/** The same transport, with every message handed to `print` in the order it passes, shown in this way. */
export const tapped = (print: (line: string) => void, show = summary) =>
  Layer.effect(
    ClientTransport.ClientTransport,
    Effect.map(ClientTransport.ClientTransport, (transport) => ({
      ...transport,
      connect: (endpoint) =>
        Effect.map(
          transport.connect({
            ...endpoint,
            handle: (exchange) => {
              print(`  ← ${show(exchange.message)}`)
              return endpoint.handle(
                JsonRpc.isRequest(exchange.message)
                  ? answered(exchange, (message) => print(`  → ${show(message)}`))
                  : exchange
              )
            }
          }),
          (link) => ({
            ...link,
            send: (message, options) => {
              print(`  → ${show(message)}`)
              return link.send(message, options)
            }
          })
        )
    }))
  )
