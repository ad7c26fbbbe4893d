/**
 * Tasks in Redis: any process of a server can be asked about a task that another one runs.
 *
 * @since 0.1.0
 */
import { expiresAt, isExpired, TaskRecord } from "@mcpfx/session/TaskState"
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redis from "effect/persistence/Redis"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { millis, textOf } from "./internal/redis.ts"
import { TaskStore } from "./internal/taskRecord.ts"
import * as Scripts from "./internal/taskRedis.ts"
import { TaskStoreUnavailable } from "./ServerError.ts"

/**
 * What {@link layer} takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** What the names of all keys begin with. Default `{mcp-task}/`; what is in braces has a cluster keep them in one place. */
  readonly prefix?: string | undefined
  /**
   * How long after its last sign of life a process counts as gone, and its unfinished tasks as failed. Default 30 seconds; it
   * gives a sign three times in that time.
   */
  readonly aliveFor?: Duration.Input | undefined
}

type Service = TaskStore["Service"]

const Stored = Schema.fromJsonString(TaskRecord)
const encode = Schema.encodeEffect(Stored)
const decode = Schema.decodeUnknownEffect(Stored)
const decodeTexts = Schema.decodeUnknownEffect(Schema.Array(Schema.NullOr(Schema.String)))
const ownerBytes = 18

const unavailable =
  (operation: TaskStoreUnavailable["operation"]) =>
  <A, E>(self: Effect.Effect<A, E>): Effect.Effect<A, TaskStoreUnavailable> =>
    Effect.mapError(self, (cause) => new TaskStoreUnavailable({ operation, cause }))

const make = Effect.fnUntraced(function*({ aliveFor = "30 seconds", prefix = "{mcp-task}/" }: Options) {
  const redis = yield* Redis.Redis
  const random = yield* SecureRandom.SecureRandom
  const owner = Base64Url.encode(yield* random.randomBytes(ownerBytes))
  const life = Duration.fromInputUnsafe(aliveFor)
  const aliveKey = (name: string) => `${prefix}alive/${name}`

  const sign = redis.send("SET", aliveKey(owner), "1", "PX", millis(life))
  // Runs when nobody gives the sign any more, which would bring it back.
  yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(redis.send("DEL", aliveKey(owner)), "1 second")))
  // What cannot be told now is told the next time.
  yield* Effect.ignore(sign)
  yield* Effect.forkScoped(Effect.repeat(Effect.ignore(sign), Schedule.spaced(Duration.times(life, 1 / 3))))

  const create = redis.eval(Scripts.create)
  const update = redis.eval(Scripts.update)
  const list = redis.eval(Scripts.list)
  const remove = redis.eval(Scripts.remove)
  const expire = redis.eval(Scripts.expire)

  const listed: Service["list"] = ({ after, limit, principal }) =>
    Effect.gen(function*() {
      const time = yield* Clock.currentTimeMillis
      const records: Array<TaskRecord> = []
      let last = after
      while (true) {
        const reply = yield* list(prefix, principal, last, limit + 1)
        const texts = yield* decodeTexts(reply)
        for (let at = 0; at + 1 < texts.length; at += 2) {
          const text = texts[at + 1]
          last = texts[at] ?? undefined
          if (text === null || text === undefined) continue
          const record = yield* decode(text)
          if (isExpired(record, time)) continue
          if (records.length === limit) return { records, more: true }
          records.push(record)
        }
        if (texts.length < 2 * (limit + 1)) return { records, more: false }
      }
    }).pipe(unavailable("list"))

  const self: Service = {
    owner,
    isAlive: (name) =>
      name === owner
        ? Effect.succeed(true)
        : Effect.map(unavailable("isAlive")(redis.send("EXISTS", aliveKey(name))), (reply) => Number(reply) === 1),
    create: (record, limit) =>
      Effect.gen(function*() {
        const reply = yield* create(
          prefix,
          yield* encode(record),
          record,
          expiresAt(record),
          yield* Clock.currentTimeMillis,
          limit
        )
        return Number(reply) === 1 ? "Created" as const : "Full" as const
      }).pipe(unavailable("create")),
    get: (id) =>
      Effect.gen(function*() {
        const text = textOf(yield* redis.send("HGET", `${prefix}records`, id))
        return text === undefined ? Option.none() : Option.some(yield* decode(text))
      }).pipe(unavailable("get")),
    update: (record, expected) =>
      Effect.gen(function*() {
        const reply = yield* update(prefix, yield* encode(record), record, expected)
        return Scripts.outcomes[Number(reply)] ?? "Conflict"
      }).pipe(unavailable("update")),
    list: listed,
    remove: (id) => Effect.asVoid(unavailable("remove")(remove(prefix, id))),
    expire: (now) => Effect.asVoid(unavailable("expire")(expire(prefix, now)))
  }
  return self
})

/**
 * Keeps tasks in Redis, for any number of processes. A task is run by the process that began it; what a process that is gone
 * has left unfinished is reported as failed, with the reason `server_restarted`. A change is made only to the version it was
 * meant for, in one step.
 *
 * **Example** (Tasks that several processes know)
 *
 * ```ts
 * import { NodeRedis } from "@effect/platform-node"
 * import { TaskStoreRedis } from "@mcpfx/server"
 * import { Layer } from "effect"
 *
 * const Tasks = TaskStoreRedis.layer().pipe(Layer.provide(NodeRedis.layer({ url: "redis://localhost:6379" })))
 * Layer.isLayer(Tasks) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<TaskStore, never, Redis.Redis> =>
  Layer.effect(TaskStore, make(options)).pipe(Layer.provide(SecureRandom.layerWebCrypto))
