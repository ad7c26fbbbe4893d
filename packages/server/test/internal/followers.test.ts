import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, type Scope } from "effect"
import * as fc from "fast-check"
import { type Change, layerMemory } from "../../src/ChangeBus.ts"
import { type Follower, Followers } from "../../src/internal/followers.ts"
import { covering } from "../../src/internal/uriSet.ts"
import type * as Listen from "../../src/Listen.ts"
import * as Registry from "../../src/Registry.ts"
import { ServerLimits } from "../../src/ServerLimits.ts"

const uris = ["demo://a", "demo://a/b", "demo://a/b/c", "demo://d"] as const
const lists = ["tools", "prompts", "resources"] as const

/** One who writes down what it is asked about and what it is told. */
class Listener implements Listen.Audience {
  readonly interests: Listen.Interests
  readonly watched = new Set<string>()
  readonly told: Array<string> = []
  asked = 0

  constructor(wanted: ReadonlyArray<string>) {
    this.interests = {
      tools: wanted.includes("tools"),
      prompts: wanted.includes("prompts"),
      resources: wanted.includes("resources"),
      announcements: wanted.includes("announcements")
    }
  }

  hears(kind: typeof lists[number]): boolean {
    this.asked++
    return this.interests[kind]
  }

  uris(): ReadonlySet<string> {
    return this.watched
  }

  caller(): undefined {
    return undefined
  }

  wants(): boolean {
    this.asked++
    return true
  }

  tell(change: Change): Effect.Effect<boolean> {
    return Effect.sync(() => {
      this.told.push(change.kind === "resource" ? change.uri : change.kind)
      return true
    })
  }
}

const world = Effect.gen(function*() {
  const registry = yield* Registry.Registry
  const limits = { ...yield* ServerLimits, coalesce: Duration.zero }
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const scope = yield* Effect.scope
  return { followers: new Followers({ registry, limits, run }), scope }
}).pipe(Effect.provide(Registry.layer), Effect.provide(layerMemory))

type Step =
  | { readonly do: "join"; readonly wanted: ReadonlyArray<string>; readonly uris: ReadonlyArray<string> }
  | { readonly do: "watch"; readonly who: number; readonly uri: string; readonly watched: boolean }
  | { readonly do: "leave"; readonly who: number }
  | { readonly do: "change"; readonly change: Change }

const uri = fc.constantFrom(...uris)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("join" as const),
    wanted: fc.subarray([...lists, "announcements"]),
    uris: fc.subarray([...uris])
  }),
  fc.record({ do: fc.constant("watch" as const), who: fc.nat(9), uri, watched: fc.boolean() }),
  fc.record({ do: fc.constant("leave" as const), who: fc.nat(9) }),
  fc.record({
    do: fc.constant("change" as const),
    change: fc.oneof(
      fc.constantFrom(...lists).map((kind): Change => ({ kind })),
      uri.map((uri): Change => ({ kind: "resource", uri }))
    )
  })
)

interface Joined {
  readonly listener: Listener
  readonly follower: Follower
  here: boolean
}

/** Whether the change is for the listener, without any index. */
const isFor = ({ interests, watched }: Listener, change: Change): boolean =>
  change.kind === "resource"
    ? covering(watched, change.uri) !== undefined
    : change.kind !== "announcement" && interests[change.kind]

const play = (followers: Followers, scope: Scope.Scope, joined: Array<Joined>, one: Step): void => {
  if (one.do === "join") {
    const listener = new Listener(one.wanted)
    for (const each of one.uris) listener.watched.add(each)
    joined.push({ listener, follower: followers.join(listener, scope), here: true })
  } else if (one.do === "change") {
    for (const { listener } of joined) listener.told.length = 0
    followers.hear(one.change)
    for (const { here, listener } of joined) {
      assert.strictEqual(listener.told.length, here && isFor(listener, one.change) ? 1 : 0, JSON.stringify(one.change))
    }
  } else {
    const who = joined[one.who]
    if (who === undefined) return
    if (one.do === "leave") {
      who.follower.leave()
      who.here = false
    } else {
      if (one.watched) who.listener.watched.add(one.uri)
      else who.listener.watched.delete(one.uri)
      who.follower.watch(one.uri, one.watched)
    }
  }
}

describe("followers", () => {
  it.effect("[SUB-11] a change reaches those who want to hear of it, whatever came and went before", () =>
    Effect.gen(function*() {
      const context = yield* Effect.context<Scope.Scope>()
      fc.assert(fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { followers, scope } = Effect.runSyncWith(context)(world)
        const joined: Array<Joined> = []
        for (const one of steps) play(followers, scope, joined, one)
        for (const { follower } of joined) follower.leave()
        assert.strictEqual(followers.size, 0)
      }))
    }))

  it.effect("those who want nothing of a change are not asked about it", () =>
    Effect.gen(function*() {
      const { followers, scope } = yield* world
      const deaf = Array.from({ length: 100 }, (_, at) => new Listener(at % 2 === 0 ? ["prompts"] : []))
      for (const listener of deaf) followers.join(listener, scope)
      followers.hear({ kind: "tools" })
      followers.hear({ kind: "resource", uri: "demo://a" })
      followers.hear({ kind: "announcement", method: "x/y", topic: undefined, params: {}, principal: undefined })
      assert.deepStrictEqual(new Set(deaf.map(({ asked }) => asked)), new Set([0]))
    }))
})
