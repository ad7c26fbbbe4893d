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
   * it, since anything may turn up on their stdout (FRM-03).
   */
  readonly unreadable: "answer" | ((text: string, reason: string) => void)
  /** An outlet is open after its admission. */
  readonly onOpen: (outlet: RequestOutlet) => void
}

type Step = Effect.Effect<void> | undefined

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
      this.refuse(text, json.failure === "Syntax" ? Refusals.syntaxError : Refusals.tooDeep(depth))
      if (json.failure === "Syntax" || this.options.unreadable === "answer") return undefined
      const { id, response } = peek(text)
      return response && id !== undefined ? this.unreadAnswer(id, `nested deeper than ${depth}`) : undefined
    }
    const value = json.success
    if (Array.isArray(value)) return this.readBatch(text, value)
    const parsed = JsonRpc.parse(value)
    if (Result.isFailure(parsed)) return this.refuseValue(text, value, parsed.failure)
    const message = parsed.success
    return this.admit(
      message,
      JsonRpc.isRequest(message) ? new RequestOutlet(this.options.sink, message.id) : undefined
    )
  }

  private refuseValue(text: string, value: unknown, fault: JsonRpc.InvalidMessage): Step {
    const answered = this.options.unreadable === "answer"
    if (answered && !Refusals.isAnswerable(value, fault)) return undefined
    this.refuse(text, Refusals.invalidRequest(fault.reason), fault.id)
    // What is no request and names an id of ours was meant as its answer, and no other one will come.
    const { id, reason } = fault
    return !answered && id !== undefined && Refusals.isAnswer(value) ? this.unreadAnswer(id, reason) : undefined
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
    const messages: Array<JsonRpc.Message> = []
    const refusals: Array<JsonRpc.Failure> = []
    for (const value of values) {
      const parsed = JsonRpc.parse(value)
      if (Result.isSuccess(parsed)) messages.push(parsed.success)
      else if (Refusals.isAnswerable(value, parsed.failure)) {
        const id = parsed.failure.id ?? this.unreadableId
        refusals.push(JsonRpc.failure(id, Refusals.invalidRequest(parsed.failure.reason)))
      }
    }
    const admission = endpoint.admitBatch(messages, facts)
    return isExit(admission)
      ? this.batchAdmitted(admission, text, messages, refusals)
      : Effect.flatMap(
        Effect.exit(admission),
        (exit) => this.batchAdmitted(exit, text, messages, refusals) ?? Effect.void
      )
  }

  private batchAdmitted(
    exit: Exit.Exit<void, Rejected>,
    text: string,
    messages: ReadonlyArray<JsonRpc.Message>,
    refusals: ReadonlyArray<JsonRpc.Failure>
  ): Step {
    if (Exit.isFailure(exit)) {
      const rejected = Cause.findErrorOption(exit.cause)
      if (Option.isSome(rejected)) return this.refuse(text, rejected.value.error)
      this.refuse(text, Refusals.internalError)
      return Effect.logError("The endpoint failed to admit a batch", exit.cause)
    }
    const batch = new Batch(this.options.sink, this.options.maxOut)
    if (this.options.unreadable === "answer") {
      for (const refusal of refusals) batch.add(JsonRpc.stringify(refusal))
    }
    return this.admitAll(messages, 0, batch)
  }

  /** Admits the messages from `from` on, in order: the next one only when the one before is in. */
  private admitAll(messages: ReadonlyArray<JsonRpc.Message>, from: number, batch: Batch): Step {
    for (let i = from; i < messages.length; i++) {
      const message = messages[i]
      if (message === undefined) continue
      const step = this.admit(message, JsonRpc.isRequest(message) ? batch.outlet(message.id) : undefined)
      if (step !== undefined) {
        return Effect.flatMap(step, () => this.admitAll(messages, i + 1, batch) ?? Effect.void)
      }
    }
    batch.settle()
    return undefined
  }
}
