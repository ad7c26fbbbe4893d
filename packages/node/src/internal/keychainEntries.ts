/** Secrets as entries of a keychain: in parts where one entry cannot hold them. */
import { TokenStoreError } from "@mcpfx/auth/TokenStore"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { createHash, randomBytes } from "node:crypto"
import type { Entry, Keyring } from "./keyring.ts"

export interface Settings {
  readonly service: string
  /** For each call of the keychain, in which it may ask the user. */
  readonly timeout: Duration.Duration
  /** The characters that one entry holds, all of them ASCII; absent where there is no limit. */
  readonly partLength: number | undefined
}

/** A whole secret. The key is for people who look: the name of the entry is a digest of it. */
const Whole = Schema.Struct({ version: Schema.Literal(1), key: Schema.String, value: Schema.String })
const wholeJson = Schema.fromJsonString(Whole)
const decodeWhole = Schema.decodeUnknownOption(wholeJson)
const encodeWhole = Schema.encodeSync(wholeJson)

/** Where the parts of a secret are. */
const partsJson = Schema.fromJsonString(
  Schema.Struct({ version: Schema.Literal(1), parts: Schema.Int, id: Schema.String })
)
const decodeParts = Schema.decodeUnknownOption(partsJson)
const encodeParts = Schema.encodeSync(partsJson)

type Operation = TokenStoreError["operation"]
type Done<A> = Effect.Effect<A, TokenStoreError>

/** Parts end anywhere, and keychains differ in what they make of half a character: so there are only ASCII ones. */
const ascii = (json: string): string =>
  json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** How often parts are looked for again that somebody replaced just then. */
const attempts = 3

export class KeychainEntries {
  private readonly keyring: Keyring
  private readonly settings: Settings

  constructor(keyring: Keyring, settings: Settings) {
    this.keyring = keyring
    this.settings = settings
  }

  private fail(operation: Operation, detail: string): Done<never> {
    return Effect.fail(new TokenStoreError({ operation, detail: `keychain of ${this.settings.service}: ${detail}` }))
  }

  private call<A>(
    operation: Operation,
    account: string,
    use: (entry: Entry, signal: AbortSignal) => Promise<A>
  ): Done<A> {
    const { service, timeout } = this.settings
    return Effect.tryPromise({
      try: (signal) => {
        const entry = new this.keyring.AsyncEntry(service, account, { linux: { store: "secret-service" } })
        return use(entry, signal)
      },
      catch: (cause) => cause
    }).pipe(
      Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(new Error("it does not answer")) }),
      Effect.catch((cause) => this.fail(operation, cause instanceof Error ? cause.message : "it failed"))
    )
  }

  private read(operation: Operation, account: string): Done<string | undefined> {
    return Effect.map(
      this.call(operation, account, (entry, signal) => entry.getPassword(signal)),
      (text) => text ?? undefined
    )
  }

  private write(account: string, text: string): Done<void> {
    return this.call("write", account, (entry, signal) => entry.setPassword(text, signal))
  }

  private erase(operation: Operation, account: string): Done<void> {
    return Effect.asVoid(this.call(operation, account, (entry, signal) => entry.deleteCredential(signal)))
  }

  private readonly accountOf = (key: string): string => createHash("sha256").update(key).digest("hex")

  /** The accounts of the parts that an entry names; none where it holds a whole secret. */
  private partsOf(account: string, head: string | undefined): ReadonlyArray<string> {
    const parts = Option.getOrUndefined(decodeParts(head))
    if (parts === undefined) return []
    return Array.from({ length: parts.parts }, (_, index) => `${account}.${parts.id}.${index}`)
  }

  /** The text of a secret; `undefined` where there is none. */
  private text(account: string, left: number = attempts): Done<string | undefined> {
    return Effect.gen({ self: this }, function*() {
      const head = yield* this.read("read", account)
      const accounts = this.partsOf(account, head)
      if (accounts.length === 0) return head
      const parts = yield* Effect.forEach(accounts, (part) => this.read("read", part))
      if (!parts.includes(undefined)) return parts.join("")
      return left > 1 ? yield* this.text(account, left - 1) : yield* this.fail("read", "a part of an entry is missing")
    })
  }

  get(key: string): Done<Option.Option<Redacted.Redacted<string>>> {
    return Effect.flatMap(this.text(this.accountOf(key)), (text) => {
      if (text === undefined) return Effect.succeedNone
      const whole = decodeWhole(text)
      return Option.isSome(whole) && whole.value.key === key
        ? Effect.succeedSome(Redacted.make(whole.value.value))
        : this.fail("read", "an entry does not hold credentials as they are written here; it is left as it is")
    })
  }

  /** What replaces an entry is there whole before the entry names it, and what it named goes after that. */
  set(key: string, value: Redacted.Redacted<string>): Done<void> {
    const account = this.accountOf(key)
    const text = ascii(encodeWhole({ version: 1, key, value: Redacted.value(value) }))
    const { partLength = text.length } = this.settings
    return Effect.gen({ self: this }, function*() {
      const old = this.partsOf(account, yield* this.read("write", account))
      if (text.length <= partLength) {
        yield* this.write(account, text)
      } else {
        const id = randomBytes(4).toString("hex")
        const parts = Math.ceil(text.length / partLength)
        const head = encodeParts({ version: 1, parts, id })
        const fresh = this.partsOf(account, head)
        yield* Effect.forEach(
          fresh,
          (part, index) => this.write(part, text.slice(index * partLength, (index + 1) * partLength))
        ).pipe(
          Effect.andThen(this.write(account, head)),
          Effect.onError(() => this.forget(fresh))
        )
      }
      yield* this.forget(old)
    }).pipe(Effect.uninterruptible)
  }

  /** Parts that nobody names do no harm, but for the room they take. */
  private forget(parts: ReadonlyArray<string>): Effect.Effect<void> {
    return Effect.forEach(parts, (part) => Effect.ignore(this.erase("remove", part)), { discard: true })
  }

  remove(key: string): Done<void> {
    const account = this.accountOf(key)
    return Effect.gen({ self: this }, function*() {
      const parts = this.partsOf(account, yield* this.read("remove", account))
      yield* Effect.forEach([account, ...parts], (entry) => this.erase("remove", entry), { discard: true })
    }).pipe(Effect.uninterruptible)
  }
}
