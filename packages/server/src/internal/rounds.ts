/**
 * One pass over a handler on 2026-07-28: what it asks is answered from the rounds before, or ends the pass.
 *
 * A question without an answer parks its fiber and never fails. The pass ends when nothing of the handler can go on without
 * an answer: at once where that is known, a moment after the last question where other fibers run. Then the fiber of the
 * request is interrupted from outside, and when all its finalizers have run, the questions are sent.
 */
import type { InputRequest } from "@mcpfx/schema/InputRequired"
import { isJsonObject, type JsonObject, type ResultBody } from "@mcpfx/schema/JsonRpc"
import type { McpError } from "@mcpfx/schema/McpError"
import * as Suspended from "@mcpfx/session/Suspended"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import { AskChanged, AskLost, AskMisplaced, AskNotReplayed, DuplicateKey } from "../AskError.ts"
import { AskTimeout, CapabilityMissing, type InputError, type StepInDoubt } from "../ServerError.ts"
import type { Asks } from "./asks.ts"
import * as Identity from "./identity.ts"
import { CurrentGroup, type Group, type Interaction, type KeptStep, type Question } from "./interaction.ts"
import { Members } from "./members.ts"
import { uncovered } from "./push.ts"
import type { Answered, Asked, RoundState } from "./roundState.ts"
import type { Single } from "./single.ts"

type AnyFiber = Fiber.Fiber<unknown, unknown>

export type Ending = (closed: Exit.Exit<unknown>) => Effect.Effect<ResultBody, McpError>

/** A question that waits in its fiber. */
export interface Parked {
  readonly key: string
  readonly digest: string
  readonly question: Question
  readonly fiber: AnyFiber
  /** What it runs in: a fiber that has ended has none any more. */
  readonly context: Context.Context<never>
  /** What the fiber had started before. */
  readonly children: ReadonlyArray<AnyFiber>
}

const names: Readonly<Record<InputRequest["method"], string>> = {
  "elicitation/create": "elicit",
  "sampling/createMessage": "sample",
  "roots/list": "roots"
}

/** Whether a handler gave a result, and not one that tells of its failure. */
const wentWell = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isSuccess(exit) && !(isJsonObject(exit.value) && exit.value["isError"] === true)

/** Neither this nor its children are part of a fiber's interface, but of every fiber. */
const isInterruptible = (fiber: AnyFiber): boolean => !("interruptible" in fiber) || fiber.interruptible !== false

const childrenOf = (fiber: AnyFiber): ReadonlyArray<AnyFiber> => {
  const children: unknown = "_children" in fiber ? fiber._children : undefined
  return children instanceof Set ? Array.from(children).filter(Fiber.isFiber) : []
}

export class Rounds implements Interaction {
  /** This pass, from 1. */
  readonly round: number
  readonly single: Single
  /** What the round before has left; empty for the first. */
  readonly state: RoundState
  /** Answers of all rounds: those of the state, and those that came with this one. */
  readonly answers: ReadonlyMap<string, Answered>
  /** What the steps of this pass gave, beside those of the state. */
  private steps: Map<string, unknown> | undefined = undefined
  /** What is asked when the pass has ended. */
  pending: ReadonlyArray<Parked> = []
  private readonly asks: Asks
  private readonly parked = new Map<AnyFiber, Parked>()
  private groups: Map<AnyFiber, Members> | undefined = undefined
  private readonly counts = new Map<string, number>()
  /** Keys that were given, with what they were given to. */
  private taken: Set<string> | undefined = undefined
  private readonly used = new Set<string>()
  private calm: Latch.Latch | undefined = undefined
  /** Steps that run: a pass does not end before they do. */
  private busy = 0
  /** Counts what happens, so that a fiber that slept can tell whether anything did. */
  private moves = 0
  private phase: "open" | "suspended" | "over" = "open"
  /** A question that was interrupted before the pass ended. */
  private lost: AskLost | undefined = undefined
  private trace: RoundState["trace"]
  private drawn: string | undefined = undefined

  constructor(single: Single, asks: Asks, state: RoundState, answers: ReadonlyMap<string, Answered>) {
    this.single = single
    this.asks = asks
    this.state = state
    this.answers = answers
    this.round = state.round + 1
    this.trace = state.trace
  }

  /** What the steps of the whole call share, made when one runs or a state is sealed. Platforms draw such ids in bulk. */
  private get call(): string {
    return this.drawn ??= this.state.call === "" ? crypto.randomUUID() : this.state.call
  }

  get suspending(): boolean {
    return this.phase === "suspended"
  }

  // Questions.

  ask(question: Question): Effect.Effect<JsonObject, InputError> {
    return Effect.withFiber((fiber) => {
      const missing = uncovered(question, this.single.clientCapabilities)
      if (missing !== undefined) return Effect.fail(new CapabilityMissing({ ask: missing }))
      const { key, request } = question
      if (!isInterruptible(fiber)) {
        return Effect.die(new AskMisplaced({ where: "uninterruptible", key: key ?? names[request.method] }))
      }
      if (this.phase !== "open") return Effect.interrupt
      if (key !== undefined && !this.claims("question", key)) {
        return Effect.die(new DuplicateKey({ kind: "question", key }))
      }
      const digest = Identity.ofQuestion(request)
      return this.answer(key ?? this.keyOf(request.method, digest), digest, question, fiber)
    })
  }

  /** Whether a key is given for the first time in this pass. */
  private claims(kind: DuplicateKey["kind"], key: string): boolean {
    const taken = this.taken ??= new Set()
    const { size } = taken
    return taken.add(`${kind} ${key}`).size > size
  }

  /** Equal questions of a pass are told apart by their order. */
  private keyOf(method: InputRequest["method"], digest: string): string {
    const count = (this.counts.get(digest) ?? 0) + 1
    this.counts.set(digest, count)
    return `${names[method]}-${digest.slice(0, 10)}-${count}`
  }

  private answer(
    key: string,
    digest: string,
    question: Question,
    fiber: AnyFiber
  ): Effect.Effect<JsonObject, InputError> {
    const asked = this.state.asked.get(key)
    if (asked !== undefined && asked.digest !== digest) return Effect.die(new AskChanged({ key }))
    const answer = this.answers.get(key)
    if (answer === undefined) {
      return this.park({ key, digest, question, fiber, context: fiber.context, children: childrenOf(fiber) })
    }
    this.used.add(key)
    if (!this.state.answers.has(key)) this.single.loud()
    const millis = asked === undefined || question.timeout === undefined ? undefined : answer.at - asked.at
    return millis === undefined || question.timeout === undefined || millis <= Duration.toMillis(question.timeout)
      ? Effect.succeed(answer.value)
      : Effect.fail(new AskTimeout({ ask: question.asks[0], millis }))
  }

  // Waiting.

  private park(parked: Parked): Effect.Effect<never> {
    if (this.phase !== "open") return Effect.interrupt
    this.single.loud()
    this.moves += 1
    this.parked.set(parked.fiber, parked)
    const { span } = parked.fiber.cache
    if (span !== undefined) this.trace ??= { traceId: span.traceId, spanId: span.spanId }
    if (this.isQuiet()) {
      this.suspend()
      return Effect.never
    }
    return Effect.onExit(Effect.andThen(this.grace(), Effect.never), () => Effect.sync(() => this.unpark(parked)))
  }

  /** Each question that waits watches the clock: a moment after the last thing happened, the pass ends. */
  private grace(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const moves = this.moves
      const calm = this.calm === undefined ? Effect.void : this.calm.await
      return Effect.flatMap(Effect.andThen(calm, Effect.sleep(this.asks.limits.roundGrace)), () => {
        if (this.busy > 0 || this.moves !== moves) return this.grace()
        this.suspend()
        return Effect.void
      })
    })
  }

  private unpark(parked: Parked): void {
    this.parked.delete(parked.fiber)
    const group = Context.get(parked.context, CurrentGroup)
    if (this.phase !== "open" || this.single.isOver || group?.isGivenUp === true) return
    this.lost ??= new AskLost({ key: parked.key })
  }

  /** Whether it is known that nothing can go on. */
  private isQuiet(): boolean {
    const { fiber } = this.single
    return this.busy === 0 && fiber !== undefined && this.isIdle(fiber)
  }

  private isIdle(fiber: AnyFiber): boolean {
    if (fiber.pollUnsafe() !== undefined) return true
    const all = (fibers: ReadonlyArray<AnyFiber>) => fibers.every((one) => this.isIdle(one))
    const parked = this.parked.get(fiber)
    if (parked !== undefined) return all(parked.children)
    const members = this.groups?.get(fiber)
    return members !== undefined && members.isComplete && all(members.fibers) &&
      all(childrenOf(fiber))
  }

  /** Ends the pass. The interruption comes from outside, so that no handler can take it for an outcome of its question. */
  private suspend(): void {
    if (this.phase !== "open" || this.parked.size === 0) return
    this.phase = "suspended"
    this.pending = Array.from(this.parked.values())
    this.parked.clear()
    const own = this.single.fiber
    own?.interruptUnsafe(undefined, Suspended.annotations)
    // A request that cannot be interrupted where it is may wait for one of these.
    for (const { fiber } of this.pending) {
      if (fiber !== own) fiber.interruptUnsafe(undefined, Suspended.annotations)
    }
  }

  private occupied<A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      this.busy += 1
      this.moves += 1
      const calm = this.calm ??= Latch.makeUnsafe(true)
      calm.closeUnsafe()
      return Effect.onExit(effect, () =>
        Effect.sync(() => {
          this.busy -= 1
          if (this.busy === 0) calm.openUnsafe()
        }))
    })
  }

  group(owner: AnyFiber, size: number): Group {
    const ended = () => {
      if (this.phase === "open" && this.parked.size > 0 && this.isQuiet()) this.suspend()
    }
    const outer = Context.get(owner.context, CurrentGroup)
    const groups = this.groups ??= new Map()
    const members = new Members(size, outer, ended, () => void groups.delete(owner))
    groups.set(owner, members)
    return members
  }

  // Steps.

  step<A, E>(step: KeptStep<A, E>): Effect.Effect<A, E | StepInDoubt> {
    return Effect.suspend(() => {
      const { key } = step
      if (!this.claims("step", key)) return Effect.die(new DuplicateKey({ kind: "step", key }))
      if (this.state.steps.has(key)) return step.decode(this.state.steps.get(key))
      if (this.phase !== "open") return Effect.interrupt
      this.single.loud()
      const running = Effect.tap(
        this.asks.runStep(step, `${this.call}.${key}`),
        (value) => Effect.sync(() => void (this.steps ??= new Map()).set(key, step.encode(value)))
      )
      return this.occupied(running)
    })
  }

  // The end.

  /** The handler has ended, by itself or because it was suspended. */
  ending(exit: Exit.Exit<unknown, unknown>): Ending | undefined {
    const { lost, phase } = this
    if (phase !== "suspended") this.phase = "over"
    // Nobody waits for these any more, whoever started them.
    for (const fiber of this.parked.keys()) fiber.interruptUnsafe()
    if (this.single.isOver) return undefined
    const suspended = phase === "suspended" && Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
    // What failed has failed; what goes on as if it had been answered, or asks on, must not.
    if (lost !== undefined && (suspended || wentWell(exit))) return () => Effect.die(lost)
    // What went wrong while the handler ended is what there is to tell.
    if (!suspended) return undefined
    return (closed) => Exit.isFailure(closed) ? Effect.failCause(closed.cause) : this.conclude()
  }

  private conclude(): Effect.Effect<ResultBody, McpError> {
    const { fiber } = this.single
    const rest = fiber === undefined ? [] : Array.from(childrenOf(fiber))
    for (const parked of this.pending) {
      if (parked.fiber !== fiber) rest.push(parked.fiber)
    }
    const send = Effect.clockWith((clock) => {
      const passedBy = this.passedBy()
      return passedBy === undefined
        ? this.asks.send(this, clock.currentTimeMillisUnsafe())
        : Effect.die(passedBy)
    })
    return rest.length === 0 ? send : Effect.andThen(Fiber.interruptAll(rest), send)
  }

  /** A new question beside answers that nobody wanted: the handler went another way. */
  private passedBy(): AskNotReplayed | undefined {
    const unused = Array.from(this.answers.keys()).filter((key) => !this.used.has(key))
    const fresh = this.pending.find(({ key }) => !this.state.asked.has(key))
    return fresh === undefined || unused.length === 0 ? undefined : new AskNotReplayed({ key: fresh.key, unused })
  }

  /** What the next round has to know of this one. */
  next(now: number): Pick<RoundState, "round" | "call" | "asked" | "answers" | "steps" | "progress" | "trace"> {
    const asked = new Map<string, Asked>(this.state.asked)
    for (const { digest, key, question } of this.pending) {
      if (!asked.has(key)) asked.set(key, { digest, method: question.request.method, at: now })
    }
    return {
      round: this.round,
      call: this.call,
      asked,
      answers: this.answers,
      steps: this.steps === undefined ? this.state.steps : new Map([...this.state.steps, ...this.steps]),
      progress: this.single.progress?.last(),
      trace: this.trace
    }
  }
}
