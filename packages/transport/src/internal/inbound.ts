import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Admission, Endpoint, Rejected } from "../Endpoint.ts"
import { type Facts, noOutlet } from "../Exchange.ts"
import type { Limits } from "../Limits.ts"
import type { MessageTooLarge } from "../TransportError.ts"
import { isExit } from "./exit.ts"
import { parseJson } from "./json.ts"
import { Batch, RequestOutlet, type Sink } from "./outlets.ts"
import { peek } from "./peek.ts"
import * as Refusals from "./refusals.ts"

export interface InboundOptions {
  readonly endpoint: Endpoint["Service"]
  readonly facts: Facts
  readonly limits: Limits
  /** Bytes of the longest message to write. */
  readonly maxOut: number
  readonly sink: Sink
  /**
   * What to do with a text that is no message. Whoever reads from clients answers it; whoever reads from servers reports
   * it, since anything may turn up on their stdout (FRM-03 of field practice).
   */
  readonly unreadable: "answer" | ((text: string, reason: string) => void)
  /** An outlet is open after its admission. */
  readonly onOpen: (outlet: RequestOutlet) => void
}

type Step = Effect.Effect<void> | undefined

/** A text of more characters is let go of before its message is worked at: all that runs below would keep it alive. */
const longText = 65_536

/** A batch taken apart. */
interface Parts {
  readonly messages: Array<JsonRpc.Message>
  /** Why the answers that some of the messages stand for could not be read. */
  readonly faults: Map<JsonRpc.Message, string>
  /** What is said to the requests that are none. */
  readonly refusals: Array<JsonRpc.Failure>
}

/** What is no message and names an id of ours was meant as its answer, and no other one will come. */
const idOfAnswer = (value: unknown, { id }: JsonRpc.InvalidMessage): JsonRpc.RequestId | undefined =>
  Refusals.isAnswer(value) ? id : undefined

/**
 * Texts to messages to the endpoint.
 *
 * `accept` is synchronous. Where an admission has to wait, what comes in meanwhile is kept in order until `settle` has run;
 * the reader stops reading for that time.
 */
export class Inbound {
  /** The id of answers to requests whose own id could not be read (RPC-08). */
  unreadableId: null | undefined = undefined
  private readonly options: InboundOptions
  private waiting: Step = undefined
  private backlog: Array<() => Step> = []

  constructor(options: InboundOptions) {
    this.options = options
  }

  /** Takes one text. */
  accept(text: string): void {
    if (this.waiting === undefined) this.waiting = this.read(text)
    else this.backlog.push(() => this.read(text))
  }

  /** Tells whoever waits for the answer to `id` that it came and could not be read. */
  unread(id: JsonRpc.RequestId, fault: MessageTooLarge | string): void {
    if (this.waiting === undefined) this.waiting = this.unreadAnswer(id, fault)
    else this.backlog.push(() => this.unreadAnswer(id, fault))
  }

  private unreadAnswer(id: JsonRpc.RequestId, fault: MessageTooLarge | string): Step {
    return this.admit(JsonRpc.failure(id, Refusals.unreadableAnswer), undefined, fault)
  }

  /** Whether an admission waits for `settle` to be run. */
  get unsettled(): boolean {
    return this.waiting !== undefined
  }

  readonly settle: Effect.Effect<void> = Effect.suspend(() => {
    if (this.waiting === undefined) return Effect.void
    return Effect.flatMap(this.waiting, () => {
      this.waiting = undefined
      while (this.waiting === undefined) {
        const next = this.backlog.shift()
        if (next === undefined) return Effect.void
        this.waiting = next()
      }
      return this.settle
    })
  })

  /** Tells the peer, or whoever asked to know, about a text that is no message. */
  refuse(text: string, error: JsonRpc.WireError, id?: JsonRpc.RequestId): undefined {
    const { sink, unreadable } = this.options
    if (unreadable !== "answer") unreadable(text, error.message)
    else sink.writeLine(JsonRpc.stringify(JsonRpc.failure(id ?? this.unreadableId, error)))
  }

  private read(text: string): Step {
    const depth = this.options.limits.depth
    const json = parseJson(text, depth)
    if (Result.isFailure(json)) {
      this.refuse(text, Refusals.unreadable(json.failure, depth))
      if (json.failure === "Syntax" || this.options.unreadable === "answer") return undefined
      const { id, response } = peek(text)
      return response && id !== undefined ? this.unreadAnswer(id, Refusals.tooDeepAnswer(depth)) : undefined
    }
    const value = json.success
    if (Array.isArray(value)) return this.readBatch(text, value)
    const parsed = JsonRpc.parse(value)
    if (Result.isFailure(parsed)) return this.refuseValue(text, value, parsed.failure)
    return text.length > longText ? this.admitLater(parsed.success) : this.admitMessage(parsed.success)
  }

  /** In a function of its own, so that it keeps nothing but the message. */
  private admitLater(message: JsonRpc.Message): Step {
    return Effect.suspend(() => this.admitMessage(message) ?? Effect.void)
  }

  private admitMessage(message: JsonRpc.Message): Step {
    return this.admit(
      message,
      JsonRpc.isRequest(message) ? new RequestOutlet(this.options.sink, message.id) : undefined
    )
  }

  private refuseValue(text: string, value: unknown, fault: JsonRpc.InvalidMessage): Step {
    const answered = this.options.unreadable === "answer"
    if (answered && !Refusals.isAnswerable(value, fault)) return undefined
    this.refuse(text, Refusals.invalidRequest(fault.reason), fault.id)
    const id = answered ? undefined : idOfAnswer(value, fault)
    return id === undefined ? undefined : this.unreadAnswer(id, fault.reason)
  }

  private admit(
    message: JsonRpc.Message,
    outlet: RequestOutlet | undefined,
    fault?: MessageTooLarge | string
  ): Step {
    const { endpoint, facts } = this.options
    const exchange = { message, facts, outlet: outlet ?? noOutlet }
    const admission = endpoint.handle(fault === undefined ? exchange : { ...exchange, fault })
    return isExit(admission)
      ? this.admitted(admission, outlet)
      : Effect.flatMap(Effect.exit(admission), (exit) => this.admitted(exit, outlet) ?? Effect.void)
  }

  private admitted(exit: Exit.Exit<Admission, Rejected>, outlet: RequestOutlet | undefined): Step {
    if (Exit.isSuccess(exit)) {
      if (outlet !== undefined && outlet.open) {
        outlet.disconnected = exit.value.disconnected
        outlet.registered = true
        this.options.onOpen(outlet)
      }
      return undefined
    }
    const rejected = Cause.findErrorOption(exit.cause)
    outlet?.refuse(Option.isSome(rejected) ? rejected.value.error : Refusals.internalError)
    return Option.isSome(rejected)
      ? undefined
      : Effect.logError("The endpoint failed to admit a message", exit.cause)
  }

  private readBatch(text: string, values: ReadonlyArray<unknown>): Step {
    const { endpoint, facts, limits } = this.options
    if (values.length === 0) return this.refuse(text, Refusals.invalidRequest("a batch must not be empty"))
    if (values.length > limits.batch) {
      return this.refuse(text, Refusals.invalidRequest(`a batch has at most ${limits.batch} messages`))
    }
    const parts = this.partsOf(values)
    const admission = endpoint.admitBatch(parts.messages, facts)
    return isExit(admission)
      ? this.batchAdmitted(admission, text, parts)
      : Effect.flatMap(Effect.exit(admission), (exit) => this.batchAdmitted(exit, text, parts) ?? Effect.void)
  }

  private partsOf(values: ReadonlyArray<unknown>): Parts {
    const parts: Parts = { messages: [], faults: new Map(), refusals: [] }
    for (const value of values) {
      const parsed = JsonRpc.parse(value)
      if (Result.isSuccess(parsed)) {
        parts.messages.push(parsed.success)
        continue
      }
      const fault = parsed.failure
      if (this.options.unreadable === "answer") {
        if (!Refusals.isAnswerable(value, fault)) continue
        parts.refusals.push(JsonRpc.failure(fault.id ?? this.unreadableId, Refusals.invalidRequest(fault.reason)))
      } else {
        const id = idOfAnswer(value, fault)
        if (id === undefined) continue
        const unread = JsonRpc.failure(id, Refusals.unreadableAnswer)
        parts.messages.push(unread)
        parts.faults.set(unread, fault.reason)
      }
    }
    return parts
  }

  private batchAdmitted(exit: Exit.Exit<void, Rejected>, text: string, parts: Parts): Step {
    if (Exit.isFailure(exit)) {
      const rejected = Cause.findErrorOption(exit.cause)
      if (Option.isSome(rejected)) return this.refuse(text, rejected.value.error)
      this.refuse(text, Refusals.internalError)
      return Effect.logError("The endpoint failed to admit a batch", exit.cause)
    }
    const batch = new Batch(this.options.sink, this.options.maxOut)
    for (const refusal of parts.refusals) batch.add(JsonRpc.stringify(refusal))
    return this.admitAll(parts, 0, batch)
  }

  /** Admits the messages from `from` on, in order: the next one only when the one before is in. */
  private admitAll(parts: Parts, from: number, batch: Batch): Step {
    const { faults, messages } = parts
    for (let i = from; i < messages.length; i++) {
      const message = messages[i]
      if (message === undefined) continue
      const outlet = JsonRpc.isRequest(message) ? batch.outlet(message.id) : undefined
      const step = this.admit(message, outlet, faults.get(message))
      if (step !== undefined) {
        return Effect.flatMap(step, () => this.admitAll(parts, i + 1, batch) ?? Effect.void)
      }
    }
    batch.settle()
    return undefined
  }
}
