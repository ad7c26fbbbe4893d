/**
 * What an event store does in Redis, as scripts. A stream is a Redis stream; beside all streams of an owner there is a set of
 * their names by age and a hash of their sizes, last places and ends. The keys of an owner are in one slot of a cluster.
 */
import * as Redis from "effect/persistence/Redis"
import type { StoredEvent } from "../EventStore.ts"

export interface Bounds {
  /** Milliseconds. */
  readonly life: number
  readonly perStream: number
  readonly perOwner: number
}

const keysOf = (
  keys: string,
  stream: string
): ReadonlyArray<string> => [`${keys}/${stream}`, `${keys}:ages`, `${keys}:facts`]

const common = `
local S, AGES, FACTS = KEYS[1], KEYS[2], KEYS[3]
local base, name, life = ARGV[1], ARGV[2], tonumber(ARGV[3])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function touch()
  redis.call('ZADD', AGES, string.format('%.0f', now), name)
  redis.call('PEXPIRE', S, life)
  redis.call('PEXPIRE', AGES, life)
  redis.call('PEXPIRE', FACTS, life)
end
`

const appendScript = `${common}
local perStream, perOwner = tonumber(ARGV[4]), tonumber(ARGV[5])
local eventOverhead, streamOverhead = 128, 512
local function grow(stream, size)
  redis.call('HINCRBY', FACTS, stream, size)
  return redis.call('HINCRBY', FACTS, '*', size)
end
local function drop(stream)
  local size = tonumber(redis.call('HGET', FACTS, stream) or '0')
  redis.call('DEL', base .. '/' .. stream)
  redis.call('HDEL', FACTS, stream, stream .. ':last', stream .. ':ended')
  redis.call('ZREM', AGES, stream)
  redis.call('HINCRBY', FACTS, '*', -size)
end
local function dropFirst(stream)
  local first = redis.call('XRANGE', base .. '/' .. stream, '-', '+', 'COUNT', 1)[1]
  if not first then return false end
  redis.call('XDEL', base .. '/' .. stream, first[1])
  grow(stream, -(#first[2][2] + eventOverhead))
  return true
end
for _, stream in ipairs(redis.call('ZRANGEBYSCORE', AGES, '-inf', '(' .. string.format('%.0f', now - life))) do
  drop(stream)
end
local last = tonumber(redis.call('HGET', FACTS, name .. ':last') or '-1')
local full = 0
for at = 6, #ARGV, 2 do
  local data = ARGV[at + 1]
  if full == 0 and tonumber(ARGV[at]) > last then
    local size = #data + eventOverhead
    if size + streamOverhead > perOwner then
      full = 1
    else
      local total = tonumber(redis.call('HGET', FACTS, '*') or '0')
      local oldest = redis.call('ZRANGE', AGES, 0, 0)[1]
      while oldest and total + size + streamOverhead > perOwner do
        if not dropFirst(oldest) then drop(oldest) end
        total = tonumber(redis.call('HGET', FACTS, '*') or '0')
        oldest = redis.call('ZRANGE', AGES, 0, 0)[1]
      end
      if redis.call('HEXISTS', FACTS, name) == 0 then size = size + streamOverhead end
      redis.call('XADD', S, ARGV[at] .. '-1', 'd', data)
      grow(name, size)
      redis.call('HSET', FACTS, name .. ':last', ARGV[at])
      redis.call('ZADD', AGES, string.format('%.0f', now), name)
      last = tonumber(ARGV[at])
      if redis.call('XLEN', S) > perStream then dropFirst(name) end
    end
  end
end
if redis.call('EXISTS', S) == 1 then touch() end
return full
`

const readScript = `${common}
if redis.call('EXISTS', S) == 0 then return false end
local reply = {
  redis.call('HGET', FACTS, name .. ':last') or '-1',
  redis.call('HGET', FACTS, name .. ':ended') or '0'
}
for _, entry in ipairs(redis.call('XRANGE', S, ARGV[4] .. '-0', '+')) do
  reply[#reply + 1] = string.match(entry[1], '^%d+')
  reply[#reply + 1] = entry[2][2]
end
touch()
return reply
`

const endScript = `${common}
if redis.call('EXISTS', S) == 0 then return 0 end
redis.call('HSET', FACTS, name .. ':ended', '1')
touch()
return 1
`

const removeScript = `
for _, name in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('DEL', ARGV[1] .. '/' .. name) end
return redis.call('DEL', KEYS[1], KEYS[2])
`

/** 0 where all was kept, 1 where an event was too large. */
export const append = Redis.script(
  (keys: string, stream: string, bounds: Bounds, events: ReadonlyArray<StoredEvent>): ReadonlyArray<unknown> => [
    ...keysOf(keys, stream),
    keys,
    stream,
    bounds.life,
    bounds.perStream,
    bounds.perOwner,
    ...events.flatMap(({ data, seq }) => [seq, data])
  ],
  { lua: appendScript, numberOfKeys: 3 }
).withReturnType<unknown>()

/** The last place, whether the stream has ended, then place and data of each event; nothing for an unknown stream. */
export const read = Redis.script(
  (keys: string, stream: string, bounds: Bounds, after: number): ReadonlyArray<unknown> => [
    ...keysOf(keys, stream),
    keys,
    stream,
    bounds.life,
    after + 1
  ],
  { lua: readScript, numberOfKeys: 3 }
).withReturnType<unknown>()

export const end = Redis.script(
  (keys: string, stream: string, bounds: Bounds): ReadonlyArray<unknown> => [
    ...keysOf(keys, stream),
    keys,
    stream,
    bounds.life
  ],
  { lua: endScript, numberOfKeys: 3 }
).withReturnType<unknown>()

export const remove = Redis.script(
  (keys: string): ReadonlyArray<unknown> => [`${keys}:ages`, `${keys}:facts`, keys],
  { lua: removeScript, numberOfKeys: 2 }
).withReturnType<unknown>()
