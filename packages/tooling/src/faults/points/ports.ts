/** The ports of servers and clients, each of whose waits may go wrong. */
import { TaskStoreUnavailable } from "@mcpfx/server/ServerError"
import type { TaskStore } from "@mcpfx/server/TaskStore"
import { SessionStoreUnavailable } from "@mcpfx/session/SessionError"
import type { SessionStore } from "@mcpfx/session/SessionStore"
import type { ClientTransport } from "@mcpfx/transport/ClientTransport"
import type { Endpoint } from "@mcpfx/transport/Endpoint"
import type { EventStore } from "@mcpfx/transport/EventStore"
import type { Exchange } from "@mcpfx/transport/Exchange"
import type { Link } from "@mcpfx/transport/Link"
import { EventStoreUnavailable, TransportClosed } from "@mcpfx/transport/TransportError"
import { Effect, Stream } from "effect"
import { HttpClient, HttpClientError, type HttpClientResponse } from "effect/http"
import { turn } from "../machine/world.ts"
import type { FaultPoints } from "./faultPoints.ts"

const forced = "forced"

const closed = () => new TransportClosed({ reason: forced })

const link = (points: FaultPoints, side: string, inner: Link): Link => ({
  ...inner,
  send: (message, options) =>
    points.at(
      `${side} sends ${"method" in message ? message.method : "an answer"}`,
      inner.send(message, options),
      closed
    ),
  agreed: (agreement) => points.at(`${side} agrees`, inner.agreed(agreement), undefined)
})

/** A client's way to a server. */
export const transport = (points: FaultPoints, inner: ClientTransport["Service"]): ClientTransport["Service"] => ({
  ...inner,
  connect: (endpoint) =>
    Effect.map(
      points.at("the client connects", inner.connect(endpoint), closed),
      (made) => link(points, "the client", made)
    )
})

/** An answer whose connection breaks as its first bytes come. */
const abandoned = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<void> =>
  Effect.ignore(Effect.raceFirst(Stream.runDrain(response.stream), Effect.andThen(turn, turn)))

/** A client's HTTP requests. */
export const http = (points: FaultPoints, inner: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transform(inner, (effect, request) =>
    points.at(
      `the client's ${request.method}`,
      effect,
      () => new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request }) }),
      abandoned
    ))

/** What transports hand their messages to; the links of connections are the same for each of their messages. */
export const endpoint = (points: FaultPoints) => {
  const links = new WeakMap<Link, Link>()
  const linkOf = (inner: Link): Link => {
    const known = links.get(inner)
    if (known !== undefined) return known
    const made = link(points, "the server", inner)
    links.set(inner, made)
    return made
  }
  const exchangeOf = (exchange: Exchange): Exchange => ({
    ...exchange,
    facts: exchange.facts.connection === undefined
      ? exchange.facts
      : { ...exchange.facts, connection: linkOf(exchange.facts.connection) },
    // Outlets have members that are looked up as they are needed.
    outlet: Object.create(exchange.outlet, {
      push: {
        value: (message: Parameters<Exchange["outlet"]["push"]>[0]) =>
          points.at(
            `the server pushes ${"method" in message ? message.method : "an answer"}`,
            exchange.outlet.push(message),
            undefined
          )
      },
      answer: { value: (message: Parameters<Exchange["outlet"]["answer"]>[0]) => exchange.outlet.answer(message) },
      end: { value: () => exchange.outlet.end() }
    })
  })
  return (inner: Endpoint["Service"]): Endpoint["Service"] => ({
    ...inner,
    handle: (exchange) => inner.handle(exchangeOf(exchange)),
    attach: (facts, made) => inner.attach(facts, linkOf(made))
  })
}

export const sessionStore = (points: FaultPoints, inner: SessionStore["Service"]): SessionStore["Service"] => {
  const failure = (operation: SessionStoreUnavailable["operation"]) => () =>
    new SessionStoreUnavailable({ operation, cause: forced })
  return {
    load: (id) => points.at("a session is loaded", inner.load(id), failure("load")),
    save: (record) => points.at("a session is saved", inner.save(record), failure("save")),
    remove: (id) => points.at("a session is removed", inner.remove(id), failure("remove"))
  }
}

export const eventStore = (points: FaultPoints, inner: EventStore["Service"]): EventStore["Service"] => {
  const failure = (operation: EventStoreUnavailable["operation"]) => () => new EventStoreUnavailable({ operation })
  return {
    append: (key, events) => points.at("events are kept", inner.append(key, events), failure("append")),
    read: (key, after) => points.at("events are read", inner.read(key, after), failure("read")),
    end: (key) => points.at("events end", inner.end(key), failure("end")),
    remove: (owner) => points.at("events are removed", inner.remove(owner), failure("remove"))
  }
}

export const taskStore = (points: FaultPoints, inner: TaskStore["Service"]): TaskStore["Service"] => {
  const failure = (operation: TaskStoreUnavailable["operation"]) => () =>
    new TaskStoreUnavailable({ operation, cause: forced })
  return {
    owner: inner.owner,
    isAlive: (owner) => points.at("a task's process is looked for", inner.isAlive(owner), failure("isAlive")),
    create: (record, limit) => points.at("a task is made", inner.create(record, limit), failure("create")),
    get: (id) => points.at("a task is read", inner.get(id), failure("get")),
    update: (record, expected) => points.at("a task is changed", inner.update(record, expected), failure("update")),
    list: (options) => points.at("tasks are listed", inner.list(options), failure("list")),
    remove: (id) => points.at("a task is removed", inner.remove(id), failure("remove")),
    expire: (now) => points.at("tasks expire", inner.expire(now), failure("expire"))
  }
}
