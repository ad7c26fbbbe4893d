/** What the clients of the soak do: each visit opens a client, does a few things and goes, orderly or not. */
import * as ClientElicitation from "@mcpfx/client/ClientElicitation"
import * as McpClient from "@mcpfx/client/McpClient"
import type { Version } from "@mcpfx/schema/Revision"
import * as HttpSseClient from "@mcpfx/transport/HttpSseClient"
import * as StreamableHttpClient from "@mcpfx/transport/StreamableHttpClient"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { Add, Ask, Job, Never, Resumed, Steps, Touch, watched } from "./contracts.ts"
import { leaveSession, startSession, watchAndCut } from "./rude.ts"
import { Wrong } from "./wrong.ts"

export interface Place {
  readonly port: number
  /** A number from 0 to 1, the same series for the same seed. */
  readonly random: () => number
}

type Client = McpClient.McpClient["Service"]

const pick = <A>({ random }: Place, all: readonly [A, ...ReadonlyArray<A>]): A =>
  all[Math.floor(random() * all.length)] ?? all[0]

const expect = (what: string, holds: boolean): Effect.Effect<void, Wrong> =>
  holds ? Effect.void : Effect.fail(new Wrong(what))

const add = (client: Client, place: Place) =>
  Effect.gen(function*() {
    const [a, b] = [Math.floor(place.random() * 1000), Math.floor(place.random() * 1000)]
    const { sum } = yield* client.call(Add, { a, b })
    yield* expect(`${a} + ${b} is not ${sum}`, sum === a + b)
  })

const steps = (client: Client) =>
  Effect.gen(function*() {
    let last = 0
    yield* client.call(Steps, { wait: 5 }, {
      onProgress: ({ progress }) =>
        Effect.sync(() => {
          last = progress
        })
    })
    yield* expect(`the last progress was ${last}`, last === 2)
  })

const ask = (client: Client) =>
  Effect.gen(function*() {
    const { given } = yield* client.call(Ask)
    yield* expect(`the user gave ${given}`, given === 7)
  })

const job = (client: Client) =>
  Effect.gen(function*() {
    const handle = yield* client.callTask(Job, { wait: 20 })
    const { content } = yield* handle.wait
    const [block] = content
    yield* expect("the task did not work", block?.type === "text" && block.text === "worked")
  })

const abandonedJob = (client: Client) => Effect.flatMap(client.callTask(Job, { wait: 2000 }), (handle) => handle.cancel)

const cancelled = (client: Client) => Effect.ignore(Effect.timeoutOption(client.call(Never), "10 millis"))

const watching = (client: Client) =>
  Effect.scoped(Effect.gen(function*() {
    const { changes } = yield* client.subscribe({ uris: [watched] })
    yield* Effect.forkScoped(Stream.runDrain(changes))
    yield* client.call(Touch)
  }))

/** Tasks are the business of the last two revisions, and so is coming back of those with sessions that have event ids. */
const deeds = (version: Version): readonly [Deed, ...ReadonlyArray<Deed>] => [
  add,
  add,
  steps,
  cancelled,
  watching,
  ...(version >= "2025-06-18" ? [ask] : []),
  ...(version >= "2025-11-25" ? [job, abandonedJob] : []),
  ...(version === "2025-11-25" ? [resumed] : [])
]

const resumed = (client: Client) =>
  Effect.gen(function*() {
    const { content } = yield* client.call(Resumed, { wait: 10 })
    const [block] = content
    yield* expect("what was resumed did not come", block?.type === "text" && block.text === "resumed")
  })

export type Deed = (client: Client, place: Place) => Effect.Effect<unknown, unknown>

const Answers = ClientElicitation.layerForm(() => Effect.succeed(ClientElicitation.accept({ given: 7 })))

/** 2024-11-05 has a transport of its own over HTTP. */
const client = ({ port }: Place, version: Version) => {
  const origin = `http://127.0.0.1:${port}`
  const transport = version === "2024-11-05"
    ? HttpSseClient.layer({ url: `${origin}/sse` })
    : StreamableHttpClient.layer({ url: `${origin}/mcp` })
  return McpClient.layer({ revisions: [version], tasks: true }).pipe(
    Layer.provide(transport),
    Layer.provide(Answers),
    Layer.provide(FetchHttpClient.layer)
  )
}

export const versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const

/** A client that comes, does these things and goes. */
export const polite = (place: Place, version: Version, all: ReadonlyArray<Deed>): Effect.Effect<void, Wrong> => {
  const doing = Effect.flatMap(McpClient.McpClient, (client) =>
    Effect.forEach(
      all,
      (deed) => Effect.mapError(deed(client, place), (error) => new Wrong(`${version} ${deed.name}: ${textOf(error)}`)),
      { discard: true }
    ))
  return Effect.mapError(
    Effect.provide(doing, client(place, version)),
    (error) => error instanceof Wrong ? error : new Wrong(`${version}: ${textOf(error)}`)
  )
}

const textOf = (error: unknown): string =>
  error instanceof Wrong ? error.what : error instanceof Error ? `${error.name} ${error.message}` : String(error)

/** One visit of somebody: mostly of a client of ours, now and then of one without manners. */
export const visit = (place: Place): Effect.Effect<void, Wrong> =>
  Effect.suspend(() => {
    const chance = place.random()
    if (chance < 0.1) return leaveSession(place.port)
    if (chance < 0.2) return watchAndCut(place.port)
    if (chance < 0.25) return Effect.asVoid(startSession(place.port))
    const version = pick(place, versions)
    return polite(place, version, Array.from({ length: 5 }, () => pick(place, deeds(version))))
  })
