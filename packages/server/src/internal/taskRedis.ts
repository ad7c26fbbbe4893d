/**
 * What a store of tasks does in Redis, as scripts: a hash of the records and one of their versions and principals, a set of
 * their ids by the time they may be forgotten, and a set of ids for each principal, in order.
 */
import type { TaskRecord } from "@mcpfx/session/TaskState"
import * as Redis from "effect/persistence/Redis"

const keysOf = (
  prefix: string
): ReadonlyArray<string> => [`${prefix}records`, `${prefix}versions`, `${prefix}owners`, `${prefix}ends`]

const common = `
local RECORDS, VERSIONS, OWNERS, ENDS, prefix = KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1]
local function forget(id)
  local principal = redis.call('HGET', OWNERS, id)
  if principal then redis.call('ZREM', prefix .. 'of/' .. principal, id) end
  redis.call('HDEL', RECORDS, id)
  redis.call('HDEL', VERSIONS, id)
  redis.call('HDEL', OWNERS, id)
  redis.call('ZREM', ENDS, id)
end
local function expire(now)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', ENDS, '-inf', now)) do forget(id) end
end
`

/** 1 where it was created, 0 where there are too many. */
export const create = Redis.script(
  (
    prefix: string,
    text: string,
    { id, principal, version }: TaskRecord,
    expiresAt: number,
    now: number,
    limit: number
  ): ReadonlyArray<unknown> => [
    ...keysOf(prefix),
    prefix,
    id,
    text,
    version,
    principal,
    Number.isFinite(expiresAt) ? expiresAt : "+inf",
    now,
    limit
  ],
  {
    lua: `${common}
local id = ARGV[2]
if redis.call('ZCARD', ENDS) >= tonumber(ARGV[8]) then expire(ARGV[7]) end
if redis.call('ZCARD', ENDS) >= tonumber(ARGV[8]) then return 0 end
redis.call('HSET', RECORDS, id, ARGV[3])
redis.call('HSET', VERSIONS, id, ARGV[4])
redis.call('HSET', OWNERS, id, ARGV[5])
redis.call('ZADD', ENDS, ARGV[6], id)
redis.call('ZADD', prefix .. 'of/' .. ARGV[5], 0, id)
return 1
`,
    numberOfKeys: 4
  }
).withReturnType<unknown>()

/** By what `update` replies. */
export const outcomes = ["Missing", "Conflict", "Updated"] as const

export const update = Redis.script(
  (prefix: string, text: string, { id, version }: TaskRecord, expected: number): ReadonlyArray<unknown> => [
    ...keysOf(prefix),
    prefix,
    id,
    text,
    version,
    expected
  ],
  {
    lua: `${common}
local id = ARGV[2]
local version = redis.call('HGET', VERSIONS, id)
if not version then return 0 end
if version ~= ARGV[5] then return 1 end
redis.call('HSET', RECORDS, id, ARGV[3])
redis.call('HSET', VERSIONS, id, ARGV[4])
return 2
`,
    numberOfKeys: 4
  }
).withReturnType<unknown>()

/** Ids and records in turn, in the order of the ids. */
export const list = Redis.script(
  (prefix: string, principal: string, after: string | undefined, limit: number): ReadonlyArray<unknown> => [
    ...keysOf(prefix),
    prefix,
    principal,
    after === undefined ? "-" : `(${after}`,
    limit
  ],
  {
    lua: `${common}
local reply = {}
for _, id in ipairs(redis.call('ZRANGEBYLEX', prefix .. 'of/' .. ARGV[2], ARGV[3], '+', 'LIMIT', 0, ARGV[4])) do
  reply[#reply + 1] = id
  reply[#reply + 1] = redis.call('HGET', RECORDS, id)
end
return reply
`,
    numberOfKeys: 4
  }
).withReturnType<unknown>()

export const remove = Redis.script(
  (prefix: string, id: string): ReadonlyArray<unknown> => [...keysOf(prefix), prefix, id],
  { lua: `${common} forget(ARGV[2]) return 1`, numberOfKeys: 4 }
).withReturnType<unknown>()

export const expire = Redis.script(
  (prefix: string, now: number): ReadonlyArray<unknown> => [...keysOf(prefix), prefix, now],
  { lua: `${common} expire(ARGV[2]) return 1`, numberOfKeys: 4 }
).withReturnType<unknown>()
