/** A server that tells many streams of one change. */
import { check } from "../answers.ts"
import { failed } from "../child.ts"
import { type Contender } from "../contenders.ts"
import { within } from "../deadline.ts"
import * as Http from "../load/http.ts"
import * as Request from "../load/request.ts"
import { type HttpResponse, messagesOf, textOf } from "../load/response.ts"
import * as Messages from "../messages.ts"
import { ofChild, type Subject } from "../subject.ts"
import { resource } from "../texts.ts"
import { reached } from "./http.ts"

/** Streams that are opened at the same time. */
const openers = 64

const told = "\"notifications/resources/updated\""

/** Counts what streams hear, and lets wait for it. */
class Audience {
  heard = 0
  private awaited = 0
  private resolve: () => void = () => {}

  /** Gives the hearing of one stream. A name may be cut between two chunks. */
  readonly listener = (): (chunk: Buffer) => void => {
    let rest = ""
    return (chunk) => {
      const text = rest + chunk.toString("latin1")
      let at = -1
      let after = 0
      while ((at = text.indexOf(told, after)) >= 0) {
        this.heard++
        after = at + told.length
      }
      rest = text.slice(Math.max(after, text.length - told.length + 1))
      if (this.heard >= this.awaited) this.resolve()
    }
  }

  /** Resolves when that many more have been heard than were so far. */
  next(many: number): Promise<void> {
    this.awaited = this.heard + many
    return new Promise((resolve) => {
      this.resolve = resolve
    })
  }
}

const accepted = ({ body, headers, status }: HttpResponse, what: string): void => {
  if (status !== 200) {
    throw new Error(`status ${status} for ${what}: ${textOf({ body, headers, status }).slice(0, 300)}`)
  }
}

/** Opens a stream of a session that has subscribed, 2025-11-25. */
const followSession = async (port: number, hear: (chunk: Buffer) => void): Promise<Http.Connection> => {
  const posts = new Http.Connection(port)
  const session = await Request.openSession(posts, port)
  const subscribed = await posts.request(
    Request.post(Request.head(port, Messages.subscribe, session), Messages.subscribe.body(1))
  )
  accepted(subscribed, "a subscription")
  check(Messages.subscribe, 1, messagesOf(subscribed))
  posts.close()
  const stream = new Http.Connection(port)
  accepted(await stream.follow(Request.get(port, session), hear), "a stream")
  return stream
}

/** Opens a stream that listens, 2026-07-28. */
const listen = async (port: number, hear: (chunk: Buffer) => void, id: number): Promise<Http.Connection> => {
  const stream = new Http.Connection(port)
  const head = Request.head(port, Messages.listen, undefined)
  accepted(await stream.follow(Request.post(head, Messages.listen.body(id)), hear), "a stream")
  return stream
}

export const listenersSubject = async (
  contender: Contender,
  version: Messages.Version,
  many: number
): Promise<Subject> => {
  const template = Messages.touch(version)
  const server = await reached(contender, { extras: true, stream: true }, { connections: 1, template })
  const [calls] = server.connections
  const [head = ""] = server.heads
  const audience = new Audience()
  const streams: Array<Http.Connection> = []
  const stop = async () => {
    for (const stream of streams) stream.close()
    await server.stop()
  }
  let next = 1
  const touch = async () => {
    const all = audience.next(many)
    const id = next++
    const response = await calls?.request(Request.post(head, template.body(id)))
    if (response !== undefined) check(template, id, messagesOf(response))
    const before = audience.heard
    await within(`the word of ${resource.uri} to ${many} streams, of which ${before} had it at once`, all, 10_000)
  }
  try {
    const open = version === "2025-11-25" ? followSession : listen
    await Http.share(Array.from({ length: openers }), many, async (_, number) => {
      streams.push(await open(server.port, audience.listener(), number + 1))
    })
    // Streams say that they stand after their head.
    await touch()
  } catch (error) {
    await stop()
    throw failed(server.child, error)
  }
  const announce = async (count: number) => {
    const changes = Math.max(1, Math.round(count / many))
    for (let i = 0; i < changes; i++) await touch()
    return { units: changes * many, latencies: [] }
  }
  return {
    ...ofChild(server.child),
    least: many,
    run: announce,
    verify: async (count) => {
      const before = audience.heard
      const { units } = await announce(count)
      if (audience.heard - before !== units) throw new Error(`${audience.heard - before} words instead of ${units}`)
    },
    stop
  }
}
