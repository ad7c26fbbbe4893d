/** One request that is sent, from its sending to its end. */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import type * as Progress from "@mcpfx/schema/Progress"
import type * as Link from "@mcpfx/transport/Link"
import type { MessageTooLarge, TransportError } from "@mcpfx/transport/TransportError"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import type { PeerFailure } from "../Peer.ts"
import { InvalidResponse } from "../SessionError.ts"
import type { Timed } from "./deadlines.ts"

/** Where the messages of one request go: a link, or the stream of a request being served. */
export interface Route {
  readonly send: (message: JsonRpc.Outgoing, options?: Link.SendOptions) => Effect.Effect<void, TransportError>
}

/** One request to send. */
export interface Plan {
  readonly method: string
  readonly params: JsonRpc.JsonObject
  /** Members for `_meta`, but for the progress token. */
  readonly meta: JsonRpc.JsonObject | undefined
  readonly route: Route
  readonly send: Link.SendOptions | undefined
  /** In milliseconds. */
  readonly timeout: number
  readonly maxTimeout: number
  readonly onProgress: ((progress: Progress.Params) => Effect.Effect<void>) | undefined
  readonly onSent: ((id: JsonRpc.RequestId) => void) | undefined
}

export type Answer<A> = Effect.Effect<A, PeerFailure>

/** Reads a result. */
export type Read<A> = (result: JsonRpc.JsonObject) => Effect.Effect<A, InvalidResponse>

/** A request from its sending to its end, whatever its result is read as. */
export interface Call extends Timed {
  readonly plan: Plan
  readonly context: Context.Context<never>
  /** When it was sent. */
  readonly start: number
  /** Up to when progress may move the deadline. */
  latest: number
  id: JsonRpc.RequestId
  sending: Fiber.Fiber<void, TransportError> | undefined
  /** Progress that waits for its reader. */
  backlog: Array<Progress.Params> | undefined
  delivering: Fiber.Fiber<void> | undefined
  /** Whether progress is being handed over. */
  busy: boolean
  done: boolean
  /** The answer came, or why it could not be read; what came before it is handed over before it. */
  answered(response: JsonRpc.Response, fault: MessageTooLarge | string | undefined): void
  /** It ends without an answer. */
  settle(answer: Answer<never>): void
}

/** Told when the time of a call is up. */
interface Expiring {
  expire(call: Call, now: number): void
}

export class Sent<A> implements Call {
  readonly plan: Plan
  readonly context: Context.Context<never>
  readonly start: number
  latest: number
  backlog: Array<Progress.Params> | undefined = undefined
  private readonly owner: Expiring
  private readonly read: Read<A>
  private readonly resume: (answer: Answer<A>) => void
  id: JsonRpc.RequestId = 0
  deadline: number
  sending: Fiber.Fiber<void, TransportError> | undefined = undefined
  delivering: Fiber.Fiber<void> | undefined = undefined
  busy = false
  done = false

  constructor(
    owner: Expiring,
    plan: Plan,
    context: Context.Context<never>,
    read: Read<A>,
    resume: (answer: Answer<A>) => void,
    now: number
  ) {
    this.owner = owner
    this.plan = plan
    this.context = context
    this.read = read
    this.resume = resume
    this.start = now
    this.latest = now + plan.maxTimeout
    this.deadline = Math.min(now + plan.timeout, this.latest)
  }

  expire(now: number): void {
    this.owner.expire(this, now)
  }

  answered(response: JsonRpc.Response, fault: MessageTooLarge | string | undefined): void {
    const answer = this.answerOf(response, fault)
    const { delivering } = this
    this.settle(
      delivering === undefined ? answer : Effect.andThen(
        Effect.onInterrupt(Fiber.await(delivering), () => Effect.sync(() => delivering.interruptUnsafe())),
        answer
      )
    )
  }

  settle(answer: Answer<A>): void {
    this.done = true
    this.resume(answer)
  }

  private answerOf(response: JsonRpc.Response, fault: MessageTooLarge | string | undefined): Answer<A> {
    if (typeof fault === "string") return Effect.fail(new InvalidResponse({ method: this.plan.method, detail: fault }))
    if (fault !== undefined) return Effect.fail(fault)
    if (JsonRpc.isFailure(response)) return Effect.fail(new McpError.PeerError(response.error))
    // A reader that breaks fails its own request, not all that is read here.
    const read = Result.try(() => this.read(response.result))
    return Result.isSuccess(read) ? read.success : Effect.die(read.failure)
  }
}
