/** Who holds a lock, and whether that process still lives. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { randomBytes } from "node:crypto"
import { hostname } from "node:os"
import { kill, pid } from "node:process"

/** What a lock file says. */
export const Owner = Schema.Struct({
  /** One for each time that a lock is taken. */
  token: Schema.String,
  pid: Schema.Int,
  /** Where process ids mean the same: the machine since it started, and the namespace of a container. */
  place: Schema.String,
  /** When the process began, in the words of the system; empty where it does not tell. */
  started: Schema.String
})

export interface Owner extends Schema.Schema.Type<typeof Owner> {}

const OwnerJson = Schema.fromJsonString(Owner)
export const decode: (text: string) => Option.Option<Owner> = Schema.decodeUnknownOption(OwnerJson)
export const encode: (owner: Owner) => string = Schema.encodeSync(OwnerJson)

/** `unknown` where nobody here can tell: another machine or container, or a system that does not say when a process began. */
export type Liveness = "alive" | "dead" | "unknown"

type Files = FileSystem.FileSystem

const orEmpty = <E>(effect: Effect.Effect<string, E>): Effect.Effect<string> => Effect.orElseSucceed(effect, () => "")

interface Status {
  readonly started: string
  readonly ended: boolean
}

/** What Linux says of a process: the state and the time it began are behind its name, which may hold anything. */
const statusOf = (files: Files, pid: number): Effect.Effect<Status> =>
  Effect.map(orEmpty(files.readFileString(`/proc/${pid}/stat`)), (text) => {
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    return { started: fields[19] ?? "", ended: fields[0] === "Z" || fields[0] === "X" }
  })

/** Whether there is a process of this id; one that belongs to somebody else is there too. */
const exists = (pid: number): boolean =>
  Result.match(Result.try(() => kill(pid, 0)), {
    onSuccess: () => true,
    onFailure: (error) => !(error instanceof Error && "code" in error && error.code === "ESRCH")
  })

/** This process as an owner, but for the token. */
export const self = (files: Files): Effect.Effect<Omit<Owner, "token">> =>
  Effect.gen(function*() {
    const boot = yield* orEmpty(files.readFileString("/proc/sys/kernel/random/boot_id"))
    const namespace = yield* orEmpty(files.readLink("/proc/self/ns/pid"))
    const { started } = yield* statusOf(files, pid)
    return { pid, place: [hostname(), boot.trim(), namespace].join("/"), started }
  })

/** Draws a token. */
export const claim = (self: Omit<Owner, "token">): Owner => ({ ...self, token: randomBytes(8).toString("hex") })

export const liveness = (files: Files, owner: Owner, place: string): Effect.Effect<Liveness> =>
  Effect.gen(function*() {
    if (owner.place !== place) return "unknown"
    if (!exists(owner.pid)) return "dead"
    const status = yield* statusOf(files, owner.pid)
    if (status.ended) return "dead"
    if (owner.started === "" || status.started === "") return "unknown"
    // Ids are given out again.
    return owner.started === status.started ? "alive" : "dead"
  })
