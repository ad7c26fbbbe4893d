/** A lock in Redis: a key that ends by itself, and belongs to the one whose token it holds. */
import * as Redis from "effect/persistence/Redis"

const params = (key: string, token: string, lease: number): ReadonlyArray<string> => [key, token, String(lease)]

/** Takes the lock, or keeps it for longer: 1 where it is the caller's now. */
export const take = Redis.script(params, {
  numberOfKeys: 1,
  lua: `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`
}).withReturnType<number>()

/** Keeps the lock for longer: 0 where it is not the caller's any more. */
export const keep = Redis.script(params, {
  numberOfKeys: 1,
  lua: `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`
}).withReturnType<number>()

/** Gives the lock back, if it still is the caller's. */
export const give = Redis.script((key: string, token: string): ReadonlyArray<string> => [key, token], {
  numberOfKeys: 1,
  lua: `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`
}).withReturnType<number>()
