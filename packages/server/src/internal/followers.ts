/** All who hear of changes at one endpoint: one subscription of the bus, however many they are. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { Change } from "../ChangeBus.ts"
import type { Audience } from "../Listen.ts"
import type { Registry, Snapshot } from "../Registry.ts"
import type { ServerLimits } from "../ServerLimits.ts"
import { scopeRefusal } from "./admission.ts"
import * as Coalesce from "./coalesce.ts"
import { find, isVisible } from "./entries.ts"
import * as Forward from "./forward.ts"
import { covering, coversOf } from "./uriSet.ts"

const told = Effect.succeed(true)

/** Who may not see or read a resource does not hear of it either. */
const concerns = (registry: Registry["Service"], audience: Audience, change: Change, guarded: Guarded): boolean => {
  if (change.kind === "announcement") {
    const entry = registry.snapshot().announcement(change.method)
    if (entry === undefined || !audience.wants(entry, change)) return false
    if (entry.visible === undefined && entry.scopes.length === 0) return true
    const caller = audience.caller()
    return caller !== undefined && isVisible(entry, caller) && scopeRefusal(entry, caller) === undefined
  }
  if (change.kind !== "resource") return audience.hears(change.kind)
  if (covering(audience.uris(), change.uri) === undefined) return false
  if (!guarded.is(change.uri)) return true
  const caller = audience.caller()
  const found = caller === undefined ? undefined : find(registry.snapshot(), change.uri, caller)
  return caller !== undefined && found !== undefined && scopeRefusal(found.entry, caller) === undefined
}

/** Whether a resource is not for everybody: looked up once for all who hear of a change. */
class Guarded {
  private readonly registry: Registry["Service"]
  private snapshot: Snapshot | undefined = undefined
  private uri = ""
  private guarded = false

  constructor(registry: Registry["Service"]) {
    this.registry = registry
  }

  is(uri: string): boolean {
    const snapshot = this.registry.snapshot()
    if (snapshot === this.snapshot && uri === this.uri) return this.guarded
    const known = snapshot.resource(uri) ?? snapshot.templates.find((each) => each.match(uri) !== undefined)
    this.snapshot = snapshot
    this.uri = uri
    this.guarded = known !== undefined && (known.visible !== undefined || known.scopes.length > 0)
    return this.guarded
  }
}

export interface FollowersOptions {
  readonly registry: Registry["Service"]
  readonly limits: Pick<ServerLimits, "coalesce" | "watched">
  readonly run: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
}

/** One who hears of changes. Most never do, so what gathers them is made for the first one. */
export class Follower {
  private readonly others: Followers
  private readonly audience: Audience
  /** What is told runs in here. */
  private readonly scope: Scope.Scope
  private left = false
  private gatherer: Coalesce.Gatherer | undefined = undefined
  private forwarder: Forward.Forwarder | undefined = undefined

  constructor(others: Followers, audience: Audience, scope: Scope.Scope) {
    this.others = others
    this.audience = audience
    this.scope = scope
  }

  hear(change: Change): void {
    if (!this.others.concerns(this.audience, change)) return
    if (change.kind === "announcement") (this.forwarder ??= this.forward()).offer(change)
    else (this.gatherer ??= this.gather()).offer(change)
  }

  /** Tells what was kept, now that there is a stream. */
  resume(): void {
    this.gatherer?.resume()
    this.forwarder?.resume()
  }

  watch(uri: string, watched: boolean): void {
    if (this.left) return
    if (watched) this.others.watch(uri, this)
    else this.others.unwatch(uri, this)
  }

  leave(): void {
    if (this.left) return
    this.left = true
    this.others.remove(this, this.audience)
  }

  private gather(): Coalesce.Gatherer {
    const { audience } = this
    const { limits } = this.others.options
    return Coalesce.make({
      window: limits.coalesce,
      capacity: limits.watched,
      collapse: (change) =>
        change.kind === "resource"
          ? { kind: "resource", uri: covering(audience.uris(), change.uri) ?? change.uri }
          : change,
      send: (change) => this.send(change),
      run: (pump) => this.pump(pump)
    })
  }

  private forward(): Forward.Forwarder {
    return Forward.make({
      capacity: this.others.options.limits.watched,
      send: (announcement) => this.send(announcement),
      run: (pump) => this.pump(pump)
    })
  }

  private send(change: Change): Effect.Effect<boolean> {
    return this.others.concerns(this.audience, change) ? this.audience.tell(change) : told
  }

  private pump(pump: Effect.Effect<void>): void {
    Fiber.runIn(this.others.options.run(pump), this.scope)
  }
}

const kinds = ["tools", "prompts", "resources", "announcements"] as const
type Kind = typeof kinds[number]

const kindOf = (change: Exclude<Change, { readonly kind: "resource" }>): Kind =>
  change.kind === "announcement" ? "announcements" : change.kind

/** Kept by what they may want to hear of, so that a change costs what those cost who do. */
export class Followers {
  readonly options: FollowersOptions
  private readonly guarded: Guarded
  /** Sessions want to hear of everything, streams of what they say. */
  private readonly everything = new Set<Follower>()
  private readonly some: Readonly<Record<Kind, Set<Follower>>> = {
    tools: new Set(),
    prompts: new Set(),
    resources: new Set(),
    announcements: new Set()
  }
  private readonly watching = new Map<string, Set<Follower>>()

  constructor(options: FollowersOptions) {
    this.options = options
    this.guarded = new Guarded(options.registry)
  }

  /** Places that are taken, for a look at what is left behind. */
  get size(): number {
    const sets = [this.everything, ...kinds.map((kind) => this.some[kind]), ...this.watching.values()]
    return sets.reduce((sum, { size }) => sum + size, 0)
  }

  join(audience: Audience, scope: Scope.Scope): Follower {
    const follower = new Follower(this, audience, scope)
    for (const set of this.setsOf(audience)) set.add(follower)
    for (const uri of audience.uris()) this.watch(uri, follower)
    return follower
  }

  remove(follower: Follower, audience: Audience): void {
    for (const set of this.setsOf(audience)) set.delete(follower)
    for (const uri of audience.uris()) this.unwatch(uri, follower)
  }

  watch(uri: string, follower: Follower): void {
    const watching = this.watching.get(uri)
    if (watching === undefined) this.watching.set(uri, new Set([follower]))
    else watching.add(follower)
  }

  unwatch(uri: string, follower: Follower): void {
    const watching = this.watching.get(uri)
    if (watching?.delete(follower) === true && watching.size === 0) this.watching.delete(uri)
  }

  concerns(audience: Audience, change: Change): boolean {
    return concerns(this.options.registry, audience, change, this.guarded)
  }

  /** One that fails keeps none of the others from hearing. */
  hear(change: Change): void {
    for (const follower of this.candidates(change)) {
      const heard = Result.try(() => follower.hear(change))
      if (Result.isFailure(heard)) {
        this.options.run(Effect.logError("A listener of changes failed", Cause.die(heard.failure)))
      }
    }
  }

  private setsOf({ interests }: Audience): ReadonlyArray<Set<Follower>> {
    const wanted = kinds.filter((kind) => interests[kind])
    return wanted.length === kinds.length ? [this.everything] : wanted.map((kind) => this.some[kind])
  }

  /** A list of its own: whoever hears may leave, and others join. */
  private candidates(change: Change): ReadonlyArray<Follower> {
    if (change.kind !== "resource") return [...this.everything, ...this.some[kindOf(change)]]
    const found = new Set<Follower>()
    for (const cover of coversOf(change.uri)) {
      for (const follower of this.watching.get(cover) ?? []) found.add(follower)
    }
    return [...found]
  }
}
