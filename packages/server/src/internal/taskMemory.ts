/** Tasks in this process, gone when it ends. */
import { isExpired, type TaskRecord } from "@mcpfx/session/TaskState"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { TaskStore } from "./taskRecord.ts"

/** Whoever shares this store is in one process, and one name does for it: nothing in it outlives that. */
const process = "memory"

export const make = (): TaskStore["Service"] => {
  // Ids grow with time, so the order of insertion is that of the ids, but for those of one millisecond.
  const records = new Map<string, TaskRecord>()
  const expire = (now: number): void => {
    for (const record of records.values()) if (isExpired(record, now)) records.delete(record.id)
  }
  return {
    owner: process,
    isAlive: (owner) => Effect.succeed(owner === process),
    create: (record, limit) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        if (records.size >= limit) expire(now)
        if (records.size >= limit) return "Full"
        records.set(record.id, record)
        return "Created"
      }),
    get: (id) => Effect.sync(() => Option.fromUndefinedOr(records.get(id))),
    update: (record, expected) =>
      Effect.sync(() => {
        const current = records.get(record.id)
        if (current === undefined) return "Missing"
        if (current.version !== expected) return "Conflict"
        records.set(record.id, record)
        return "Updated"
      }),
    list: ({ after, limit, principal }) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const all = Array.from(records.values())
          .filter((record) =>
            record.principal === principal && (after === undefined || record.id > after) && !isExpired(record, now)
          )
          .sort((a, b) => a.id < b.id ? -1 : 1)
        return { records: all.slice(0, limit), more: all.length > limit }
      }),
    remove: (id) => Effect.sync(() => void records.delete(id)),
    expire: (now) => Effect.sync(() => expire(now))
  }
}
