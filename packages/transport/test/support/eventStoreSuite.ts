/** What every event store does, whatever it keeps events in. */
import { assert, layer } from "@effect/vitest"
import { EventStore, Limits } from "@mcpfx/transport"
import { Effect, Layer, Option } from "effect"

const { EventStore: Store, ownerOf } = EventStore

let streams = 0

/** A stream that no other test knows. */
export const fresh = (owner = ownerOf(`session-${++streams}`, "")): EventStore.StreamKey => ({
  owner,
  stream: `r${String(++streams).padStart(24, "0")}`
})

export const event = (seq: number, data = `{"n":${seq}}`): EventStore.StoredEvent => ({ seq, data })

export const events = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => event(from + index))

export const seqs = (replay: Option.Option<EventStore.Replay>) =>
  Option.map(replay, (kept) => kept.events.map(({ seq }) => seq))

export const limits = { eventsPerStream: 10, eventBytesPerSession: 16_384 }

export const eventStoreSuite = <E>(name: string, store: Layer.Layer<EventStore.EventStore, E>): void =>
  layer(Layer.provide(store, Limits.layer(limits)))(name, (it) => {
    it.effect("[HTTP-33] gives what came after an event, in order", () =>
      Effect.gen(function*() {
        const self = yield* Store
        const key = fresh()
        yield* self.append(key, [event(0, ""), event(1, "{\"a\":\"é\\n😀\"}")])
        yield* self.append(key, events(2, 4))
        const all = yield* self.read(key, -1)
        assert.deepStrictEqual(
          all,
          Option.some({
            events: [event(0, ""), event(1, "{\"a\":\"é\\n😀\"}"), ...events(2, 4)],
            last: 4,
            ended: false
          })
        )
        assert.deepStrictEqual(seqs(yield* self.read(key, 2)), Option.some([3, 4]))
        assert.deepStrictEqual(yield* self.read(key, 4), Option.some({ events: [], last: 4, ended: false }))
      }))

    it.effect("an event that comes again is kept once", () =>
      Effect.gen(function*() {
        const self = yield* Store
        const key = fresh()
        yield* self.append(key, events(1, 3))
        yield* self.append(key, events(2, 5))
        yield* self.append(key, events(1, 1))
        assert.deepStrictEqual(seqs(yield* self.read(key, 0)), Option.some([1, 2, 3, 4, 5]))
      }))

    it.effect("[field CON-02] [HTTP-33] a stream is known to its owner alone", () =>
      Effect.gen(function*() {
        const self = yield* Store
        const key = fresh()
        yield* self.append(key, events(1, 1))
        assert.deepStrictEqual(yield* self.read({ ...key, owner: ownerOf("other", "") }, 0), Option.none())
        assert.deepStrictEqual(yield* self.read(fresh(key.owner), 0), Option.none())
        const [session = ""] = key.owner.split(" ")
        assert.deepStrictEqual(yield* self.read({ ...key, owner: ownerOf(session, "mallory") }, 0), Option.none())
      }))

    it.effect("tells that a stream has ended", () =>
      Effect.gen(function*() {
        const self = yield* Store
        const key = fresh()
        yield* self.end(key)
        assert.deepStrictEqual(yield* self.read(key, 0), Option.none())
        yield* self.append(key, events(1, 2))
        yield* self.end(key)
        assert.deepStrictEqual(yield* self.read(key, 1), Option.some({ events: [event(2)], last: 2, ended: true }))
      }))

    it.effect("keeps the newest of a stream that is too long", () =>
      Effect.gen(function*() {
        const self = yield* Store
        const key = fresh()
        yield* self.append(key, events(1, 7))
        yield* self.append(key, events(8, 14))
        assert.deepStrictEqual(seqs(yield* self.read(key, 0)), Option.some([5, 6, 7, 8, 9, 10, 11, 12, 13, 14]))
      }))

    it.effect("keeps the newest of a session that has too much, and refuses what alone is too much", () =>
      Effect.gen(function*() {
        const self = yield* Store
        const old = fresh()
        const key = fresh(old.owner)
        const other = fresh()
        const kib = "x".repeat(4096)
        yield* self.append(old, [event(1, kib), event(2, kib)])
        yield* self.append(other, [event(1, kib)])
        yield* self.append(key, [event(1, kib), event(2, kib)])
        const kept = Option.getOrElse(seqs(yield* self.read(old, 0)), () => [])
        assert.notInclude(kept, 1)
        assert.deepStrictEqual(seqs(yield* self.read(key, 0)), Option.some([1, 2]))
        assert.deepStrictEqual(seqs(yield* self.read(other, 0)), Option.some([1]))
        const error = yield* Effect.flip(self.append(key, [event(3, kib.repeat(5))]))
        assert.deepInclude(error, { _tag: "EventStoreFull", limit: "eventBytesPerSession" })
      }))

    it.effect("forgets a session that is over, and no other", () =>
      Effect.gen(function*() {
        const self = yield* Store
        const key = fresh()
        const sibling = fresh(key.owner)
        const other = fresh()
        for (const one of [key, sibling, other]) yield* self.append(one, events(1, 2))
        yield* self.remove(key.owner)
        yield* self.remove(ownerOf("nobody", ""))
        assert.deepStrictEqual(yield* self.read(key, 0), Option.none())
        assert.deepStrictEqual(yield* self.read(sibling, 0), Option.none())
        assert.deepStrictEqual(seqs(yield* self.read(other, 0)), Option.some([1, 2]))
      }))

    it.effect("streams do not disturb each other", () =>
      Effect.gen(function*() {
        const self = yield* Store
        const keys = Array.from({ length: 8 }, () => fresh())
        yield* Effect.forEach(
          keys,
          (key) => Effect.forEach(events(1, 9), (one) => self.append(key, [one]), { discard: true }),
          { concurrency: "unbounded", discard: true }
        )
        for (const key of keys) {
          assert.deepStrictEqual(seqs(yield* self.read(key, 0)), Option.some([1, 2, 3, 4, 5, 6, 7, 8, 9]))
        }
      }))
  })
