/** Those who listen: what they cost a call, and what a change costs for them and for those who do not hear of it. */
import * as Resource from "@mcpfx/schema/Resource"
import type { Change } from "@mcpfx/server/ChangeBus"
import * as McpServer from "@mcpfx/server/McpServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Messages from "../../messages.ts"
import { adding, addingAgain } from "../adding.ts"
import { factsOf, hand, openSession, openStream, serve, type Server, Sink, verify } from "../endpoint.ts"
import { type Bench, inProcess, type Series, withTimers } from "../series.ts"

const News = Resource.make("demo://news", { name: "news" })
const registrations = Layer.merge(adding, McpServer.resource(News, Effect.succeed("nothing new")))

const news: Change = { kind: "resource", uri: News.uri }
const tools: Change = { kind: "tools" }

/** Opens a listen stream, and gives how many changes have come over it. */
const listen = (server: Server, id: number, notifications: object): () => number => {
  const sink = new Sink()
  const envelope = JSON.parse(Messages.add("2026-07-28").body(id)).params._meta
  const request = { jsonrpc: "2.0", id, method: "subscriptions/listen", params: { notifications, _meta: envelope } }
  hand(server, JSON.stringify(request), factsOf(), sink)
  if (sink.pushed !== 1) throw new Error(`not acknowledged: ${sink.last}`)
  return () => sink.pushed - 1
}

/** Opens a session with a stream that is subscribed to the news, and gives how many changes have come over it. */
const subscribe = async (server: Server): Promise<() => number> => {
  const session = openSession(server)
  const heard = await openStream(server, session)
  const request = { jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri: News.uri } }
  verify(server, JSON.stringify(request), factsOf(session), "\"result\"")
  return heard
}

/** Passes once those who gather changes have sent what they have, and their windows are over. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))

/** Publishes one change after the other, and sees that everybody has heard of each. */
const publishing = async (server: Server, change: Change, heard: ReadonlyArray<() => number>): Promise<Bench> => {
  let changes = 0
  const publish = server.bus.publish(change)
  const run = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) {
      Effect.runSync(publish)
      changes++
      await settled()
    }
    const missing = heard.find((count) => count() !== changes)
    if (missing !== undefined) throw new Error(`${missing()} changes were heard of, not ${changes}`)
  }
  await run(1)
  return { run, stop: server.stop }
}

const each = <A>(count: number, make: (index: number) => A): Array<A> =>
  Array.from({ length: count }, (_, i) => make(i))

const calling = async (size: number): Promise<Bench> => {
  const server = await serve(registrations)
  each(size, (index) => listen(server, index, { toolsListChanged: true, resourceSubscriptions: [News.uri] }))
  return addingAgain(server)
}

const upTo1000 = [1, 10, 100, 1000]
const upTo10000 = [1, 10, 100, 1000, 10_000]

export const listenerSeries: ReadonlyArray<Series> = [
  {
    id: "listeners",
    title: "a call, with so many listeners",
    shape: "flat",
    effort: inProcess,
    sizes: upTo1000,
    make: calling
  },
  {
    id: "change-streams",
    title: "a change of a list, for so many streams that hear of it",
    shape: "linear",
    effort: withTimers,
    sizes: upTo1000,
    make: async (size) => {
      const server = await serve(registrations)
      return publishing(server, tools, each(size, (index) => listen(server, index, { toolsListChanged: true })))
    }
  },
  {
    id: "change-sessions",
    title: "a change of a resource, for so many sessions that are subscribed to it",
    shape: "linear",
    effort: withTimers,
    sizes: upTo1000,
    make: async (size) => {
      const server = await serve(registrations)
      return publishing(server, news, await Promise.all(each(size, () => subscribe(server))))
    }
  },
  {
    id: "deaf-streams",
    title: "a change for one listener, beside so many streams that do not hear of it",
    shape: "flat",
    effort: withTimers,
    sizes: upTo1000,
    make: async (size) => {
      const server = await serve(registrations)
      each(size, (index) => listen(server, index, { resourceSubscriptions: [`demo://other/${index}`] }))
      return publishing(server, tools, [listen(server, size, { toolsListChanged: true })])
    }
  },
  {
    id: "deaf-sessions",
    title: "a change for one listener, beside so many sessions that do not hear of it",
    shape: "flat",
    effort: withTimers,
    sizes: upTo10000,
    make: async (size) => {
      const server = await serve(registrations)
      each(size, () => openSession(server))
      return publishing(server, news, [await subscribe(server)])
    }
  }
]
