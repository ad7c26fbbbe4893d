/** A session of this endpoint, as its maker and the changes it hears of see it: there may be thousands that wait. */
import type * as Logging from "@mcpfx/schema/Logging"
import type { Revision } from "@mcpfx/schema/Revision"
import type * as SessionModule from "@mcpfx/session/Session"
import type { CloseReason } from "@mcpfx/session/SessionError"
import type { Limits } from "@mcpfx/session/SessionLimits"
import type * as Sessions from "@mcpfx/session/Sessions"
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Announcement, Change } from "../ChangeBus.ts"
import type { Dispatcher } from "../Dispatcher.ts"
import type { AnnouncementEntry } from "../Entry.ts"
import type * as Listen from "../Listen.ts"
import { teller } from "./notices.ts"

/** What all sessions of an endpoint have in common. */
export interface Common {
  readonly dispatcher: Dispatcher["Service"]
  /** The sessions of this process that are open. */
  readonly open: Map<string, SessionModule.Session>
  readonly revisions: ReadonlyArray<Revision>
  readonly defaultLogLevel: Logging.Level | undefined
  readonly limits: Limits
  readonly services: Context.Context<never>
  readonly pingEvery: Duration.Input | undefined
}

/** What a session is made from, and who hears of changes for it, in one: its members are looked up, not kept. */
export class ServedSession implements SessionModule.Options, Listen.Audience {
  private readonly common: Common
  private readonly seed: Sessions.Seed
  private session: SessionModule.Session | undefined = undefined
  private membership: Listen.Membership | undefined = undefined
  private over = false

  constructor(common: Common, seed: Sessions.Seed) {
    this.common = common
    this.seed = seed
  }

  /** It is made: from now on it is found, and hears of changes. */
  begin(session: SessionModule.Session, scope: Scope.Scope): void {
    if (this.over) return
    this.session = session
    this.common.open.set(this.id, session)
    this.membership = this.common.dispatcher.listen.join(this, scope)
  }

  // What it is made from.

  get id(): string {
    return this.seed.id
  }

  get principalKey(): string {
    return this.seed.principalKey
  }

  get link(): SessionModule.Options["link"] {
    return this.seed.link
  }

  get record(): SessionModule.Options["record"] {
    return this.seed.record
  }

  get save(): SessionModule.Options["save"] {
    return this.seed.save
  }

  get role(): "server" {
    return "server"
  }

  get handler(): SessionModule.Options["handler"] {
    return this.common.dispatcher
  }

  get revisions(): ReadonlyArray<Revision> {
    return this.common.revisions
  }

  get defaultLogLevel(): Logging.Level | undefined {
    return this.common.defaultLogLevel
  }

  get limits(): Limits {
    return this.common.limits
  }

  get services(): Context.Context<never> {
    return this.common.services
  }

  get pingEvery(): Duration.Input | undefined {
    return this.common.pingEvery
  }

  onAttached(): void {
    this.membership?.resume()
  }

  onWatched(uri: string, watched: boolean): void {
    this.membership?.watch(uri, watched)
  }

  onClosed(reason: CloseReason): void {
    const { dispatcher, open } = this.common
    this.over = true
    open.delete(this.id)
    dispatcher.callers.delete(this.id)
    this.membership?.leave()
    this.seed.onClosed(reason)
  }

  // What it hears of.

  /** What is agreed, once the client is ready to hear of anything. */
  private get ready(): SessionModule.Agreed | undefined {
    const agreed = this.session?.agreed()
    return agreed?.initialized === true ? agreed : undefined
  }

  get interests(): Listen.Interests {
    return everything
  }

  hears(kind: "tools" | "prompts" | "resources"): boolean {
    const agreed = this.ready
    return agreed !== undefined && this.common.dispatcher.offer(agreed.revision, true).announces[kind]
  }

  /** Older revisions have no words for wishes: whoever speaks the extension hears of everything. */
  wants({ existsOn, extension }: AnnouncementEntry, { principal }: Announcement): boolean {
    const agreed = this.ready
    return agreed !== undefined && existsOn(agreed.revision) &&
      (principal === undefined || principal === this.principalKey) &&
      (extension === undefined || extension.spokenBy(agreed.clientCapabilities))
  }

  uris(): ReadonlySet<string> {
    return this.session?.subscriptions() ?? none
  }

  caller(): ReturnType<Listen.Audience["caller"]> {
    return this.common.dispatcher.callers.get(this.id)
  }

  tell(change: Change): Effect.Effect<boolean> {
    const { session } = this
    return session === undefined ?
      untold :
      teller((method, params) =>
        Effect.match(session.peer.notify(method, params), {
          onFailure: (error) => error._tag !== "TransportClosed",
          onSuccess: () => true
        })
      )(change)
  }
}

const none: ReadonlySet<string> = new Set()
/** Older revisions have no words for wishes, and what a server announces may change. */
const everything: Listen.Interests = { tools: true, prompts: true, resources: true, announcements: true }
const untold = Effect.succeed(false)
