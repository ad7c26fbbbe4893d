/** One open `subscriptions/listen`: what it hears of, and its place among the streams of its caller. */
import type * as Lifecycle from "@mcpfx/schema/Lifecycle"
import * as McpError from "@mcpfx/schema/McpError"
import type * as Subscription from "@mcpfx/schema/Subscription"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import * as Principal from "@mcpfx/transport/Principal"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type { Announcement, Change } from "../ChangeBus.ts"
import type { AnnouncementEntry } from "../Entry.ts"
import type * as Listen from "../Listen.ts"
import { teller } from "./notices.ts"

type Request = RequestContext["Service"]

/** The streams that are open, each caller's counted (SUB-06 of field practice). */
export class Streams {
  open = 0
  private readonly byCaller = new Map<string, number>()
  private readonly most: number

  constructor(most: number) {
    this.most = most
  }

  /** Counts one in; whether there was room. */
  enter(key: string): boolean {
    const before = this.byCaller.get(key) ?? 0
    if (before >= this.most) return false
    this.byCaller.set(key, before + 1)
    this.open++
    return true
  }

  leave(key: string): void {
    this.open--
    const rest = (this.byCaller.get(key) ?? 1) - 1
    if (rest > 0) this.byCaller.set(key, rest)
    else this.byCaller.delete(key)
  }
}

const none: ReadonlySet<string> = new Set()

/** What a filter says about the protocol's own changes. */
const ownMembers: ReadonlySet<string> = new Set([
  "toolsListChanged",
  "promptsListChanged",
  "resourcesListChanged",
  "resourceSubscriptions"
])

/** Most streams hear of nothing for most of their life, so what hearing takes is made when there is something to hear. */
export class ListenStream implements Listen.Audience {
  private readonly streams: Streams
  private readonly filter: Subscription.Filter
  private readonly context: Request
  private readonly meta: Lifecycle.NoticeParams
  private entered = false
  private membership: Listen.Membership | undefined = undefined
  private acknowledged = false
  /** What comes before the acknowledgement waits here. */
  private gate: Latch.Latch | undefined = undefined
  private watched: ReadonlySet<string> | undefined = undefined
  private topics: Map<string, unknown> | undefined = undefined

  constructor(streams: Streams, filter: Subscription.Filter, context: Request, meta: Lifecycle.NoticeParams) {
    this.streams = streams
    this.filter = filter
    this.context = context
    this.meta = meta
  }

  private get principal(): string {
    return Principal.key(this.context.facts.principal)
  }

  /** Takes a place among the streams of its caller. */
  enter(): Effect.Effect<void, McpError.McpError> {
    return Effect.suspend(() => {
      this.entered = this.streams.enter(this.principal)
      return this.entered ? Effect.void : Effect.fail(new McpError.TooManyRequests({ limit: "listenStreams" }))
    })
  }

  /** Is told of changes, from now on. */
  heed(membership: Listen.Membership): void {
    this.membership = membership
  }

  leave(): void {
    this.membership?.leave()
    if (this.entered) this.streams.leave(this.principal)
    this.entered = false
  }

  /** The acknowledgement is out: what waited behind it goes on. */
  acknowledge(): Effect.Effect<unknown> {
    return Effect.suspend((): Effect.Effect<unknown> => {
      this.acknowledged = true
      return this.gate === undefined ? Effect.void : this.gate.open
    })
  }

  get interests(): Listen.Interests {
    return {
      tools: this.hears("tools"),
      prompts: this.hears("prompts"),
      resources: this.hears("resources"),
      announcements: Object.keys(this.filter).some((member) => !ownMembers.has(member))
    }
  }

  hears(kind: "tools" | "prompts" | "resources"): boolean {
    return this.filter[`${kind}ListChanged`] === true
  }

  uris(): ReadonlySet<string> {
    const { resourceSubscriptions } = this.filter
    if (resourceSubscriptions === undefined) return none
    return this.watched ??= new Set(resourceSubscriptions)
  }

  caller(): Request {
    return this.context
  }

  wants(entry: AnnouncementEntry, announcement: Announcement): boolean {
    const topics = this.topics ??= new Map(
      Object.entries(this.filter).map(([member, value]) => [
        member,
        Array.isArray(value) ? new Set<unknown>(value) : value
      ])
    )
    const asked = topics.get(entry.filter)
    return (announcement.principal === undefined || announcement.principal === this.principal) &&
      (asked instanceof Set ? asked.has(announcement.topic) : asked === true)
  }

  tell(change: Change): Effect.Effect<boolean> {
    const telling = Effect.as(teller(this.context.notify, this.meta)(change), true)
    if (this.acknowledged) return telling
    const gate = this.gate ??= Latch.makeUnsafe(false)
    return Effect.andThen(gate.await, telling)
  }
}
