/** What all rounds of an endpoint share: how their states are sealed, opened and checked, and what is sent of them. */
import type { InputRequest, InputRequests } from "@mcpfx/schema/InputRequired"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import * as Methods from "@mcpfx/schema/Methods"
import type { InvalidShape, Revision } from "@mcpfx/schema/Revision"
import * as Principal from "@mcpfx/transport/Principal"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Tracer from "effect/Tracer"
import { StateTooLarge, TooManyRounds } from "../AskError.ts"
import type { ReplayGuard } from "../ReplayGuard.ts"
import type { RequestState } from "../RequestState.ts"
import type { StepInDoubt } from "../ServerError.ts"
import type { ServerLimits } from "../ServerLimits.ts"
import type { StateStore } from "../StateStore.ts"
import type { StepStore } from "../StepStore.ts"
import * as Base64Url from "./base64Url.ts"
import * as Identity from "./identity.ts"
import type { KeptStep } from "./interaction.ts"
import { foreign } from "./retry.ts"
import { Rounds } from "./rounds.ts"
import * as State from "./roundState.ts"
import type { Single } from "./single.ts"
import { bounded, runStep } from "./steps.ts"

export interface Parts {
  readonly state: RequestState["Service"]
  readonly limits: ServerLimits
  readonly serverInfo: unknown
  readonly states: StateStore["Service"] | undefined
  readonly guard: ReplayGuard["Service"] | undefined
  readonly steps: StepStore["Service"] | undefined
}

const expired: Effect.Effect<never, McpError.InvalidParams> = Effect.suspend(() =>
  Effect.fail(new McpError.InvalidParams({ detail: "requestState has expired", data: { reason: "expired" } }))
)

const none: ReadonlyMap<string, never> = new Map<string, never>()

/** What stands before the first pass. */
const first: State.RoundState = {
  round: 0,
  principal: "",
  request: "",
  expires: 0,
  call: "",
  asked: none,
  answers: none,
  steps: none,
  progress: undefined,
  trace: undefined
}

/** Characters that the state of a handle has at most. */
const handleLength = 1024

const handleOf = (json: unknown): string | undefined =>
  JsonRpc.isJsonObject(json) && typeof json["h"] === "string" ? json["h"] : undefined

/** A state, and what told it apart from every other when it was opened. */
interface Opened {
  readonly id: string
  readonly state: State.RoundState
}

/** An answer in the neutral model. */
const answerOf = (
  revision: Revision,
  method: InputRequest["method"],
  wire: unknown
): Result.Result<unknown, InvalidShape> => {
  switch (method) {
    case "elicitation/create":
      return revision.input(Methods.ElicitationCreate)?.decodeResult(wire) ?? Result.succeed(wire)
    case "sampling/createMessage":
      return revision.input(Methods.SamplingCreateMessage)?.decodeResult(wire) ?? Result.succeed(wire)
    case "roots/list":
      return revision.input(Methods.RootsList)?.decodeResult(wire) ?? Result.succeed(wire)
  }
}

export class Asks {
  readonly limits: ServerLimits
  private readonly parts: Parts

  constructor(parts: Parts) {
    this.parts = parts
    this.limits = parts.limits
  }

  runStep<A, E>(step: KeptStep<A, E>, idempotencyKey: string): Effect.Effect<A, E | StepInDoubt> {
    return runStep(step, idempotencyKey, this.parts.steps, this.limits)
  }

  /** The first pass. Who and what the request is, is only looked for where its state is sealed. */
  open(single: Single): Rounds {
    return new Rounds(single, this, first, none)
  }

  /** Takes up where an earlier request ended: checks its state, and has the answers ready for the handler (MRT-07). */
  resume(single: Single, request: JsonRpc.Request, sealed: string): Effect.Effect<void, McpError.McpError> {
    // What is longer than anything that is sealed here is not looked into.
    if (sealed.length > Math.max(this.limits.stateBytes, handleLength)) return foreign
    return Effect.flatMap(this.unseal(sealed), (opened) =>
      opened === undefined
        ? foreign
        : Effect.clockWith((clock) => this.take(single, request, opened, clock.currentTimeMillisUnsafe())))
  }

  private take(
    single: Single,
    request: JsonRpc.Request,
    { id, state }: Opened,
    now: number
  ): Effect.Effect<void, McpError.McpError> {
    if (state.principal !== Principal.key(single.facts.principal)) return foreign
    if (state.request !== Identity.ofRequest(request)) return foreign
    if (state.expires <= now) return expired
    const answers = this.answers(single.revision, state, request, now)
    if (Result.isFailure(answers)) return Effect.fail(answers.failure)
    const go = () => {
      single.replay(new Rounds(single, this, state, answers.success), state.progress)
      return state.trace === undefined ? Effect.void : link(state.trace)
    }
    const { guard } = this.parts
    if (guard === undefined) return go()
    const claim = guard.claim(id, Duration.millis(state.expires - now))
    return Effect.flatMap(bounded(claim, "claims", "claim", this.limits), (claimed) => claimed ? go() : foreign)
  }

  /** `undefined` for what is no state of ours. */
  private unseal(sealed: string): Effect.Effect<Opened | undefined, McpError.McpError> {
    return Effect.flatMap(this.parts.state.unseal(sealed), (opened) => {
      if (Option.isNone(opened)) return Effect.undefined
      const { id, text } = opened.value
      const json = State.parse(text)
      const handle = handleOf(json)
      return handle === undefined ? Effect.succeed(whole(id, json)) : this.fetch(id, handle)
    })
  }

  /** What stays here while a handle travels. */
  private fetch(id: string, handle: string): Effect.Effect<Opened | undefined, McpError.McpError> {
    const { state, states } = this.parts
    // A handle that we gave out and know no more has had its time.
    if (states === undefined) return expired
    return Effect.flatMap(
      bounded(states.get(handle), "states", "get", this.limits),
      (kept): Effect.Effect<Opened | undefined, McpError.McpError> =>
        Option.isNone(kept) ? expired : Effect.map(
          state.unseal(kept.value),
          (inner) => Option.isNone(inner) ? undefined : whole(id, State.parse(inner.value.text))
        )
    )
  }

  /** Answers to what was asked and has none yet; everything else is left alone (MRT-10). */
  private answers(
    revision: Revision,
    state: State.RoundState,
    request: JsonRpc.Request,
    at: number
  ): Result.Result<ReadonlyMap<string, State.Answered>, McpError.McpError> {
    const responses = request.params?.["inputResponses"]
    const answers = new Map(state.answers)
    if (!JsonRpc.isJsonObject(responses)) return Result.succeed(answers)
    for (const [key, { method }] of state.asked) {
      if (answers.has(key) || !Object.hasOwn(responses, key)) continue
      const answer = answerOf(revision, method, responses[key])
      if (Result.isFailure(answer)) {
        const detail = `inputResponses[${JSON.stringify(key)}]: ${answer.failure.message()}`
        return Result.fail(new McpError.InvalidParams({ detail }))
      }
      const value = answer.success
      if (JsonRpc.isJsonObject(value)) answers.set(key, { value, at })
    }
    return Result.succeed(answers)
  }

  /** What ends a round: the questions, and the state to come back with (MRT-03, MRT-04). */
  send(rounds: Rounds, now: number): Effect.Effect<JsonRpc.ResultBody, McpError.McpError> {
    const { single } = rounds
    const { limits } = this
    if (rounds.round >= limits.rounds) {
      return Effect.andThen(
        Effect.logWarning(new TooManyRounds({ limit: limits.rounds })),
        Effect.fail(new McpError.TooManyRequests({ limit: "rounds" }))
      )
    }
    const codec = single.revision.requestByName(single.method)
    if (codec === undefined) return Effect.fail(new McpError.MethodNotFound({ method: single.method }))
    const state: State.RoundState = {
      ...rounds.next(now),
      principal: Principal.key(single.facts.principal),
      request: single.request === undefined ? "" : Identity.ofRequest(single.request),
      expires: now + Duration.toMillis(limits.stateLife)
    }
    return Effect.map(this.seal(state), (requestState) => {
      const inputRequests: InputRequests = Object.fromEntries(
        rounds.pending.map(({ key, question }) => [key, question.request])
      )
      return codec.encodeResult({
        resultType: "input_required",
        inputRequests,
        requestState,
        _meta: { [MetaKey.serverInfo]: this.parts.serverInfo }
      })
    })
  }

  private seal(state: State.RoundState): Effect.Effect<string> {
    const { state: seals, states } = this.parts
    const { keptStateBytes, stateBytes, stateLife } = this.limits
    const limit = states === undefined ? stateBytes : keptStateBytes
    return Effect.flatMap(seals.seal(State.write(state)), (sealed) => {
      if (sealed.length > limit) {
        return Effect.die(new StateTooLarge({ key: State.largest(state), bytes: sealed.length, limit }))
      }
      if (states === undefined) return Effect.succeed(sealed)
      const handle = Base64Url.encode(SecureRandom.randomBytesUnsafe(16))
      return Effect.andThen(
        bounded(states.put(handle, sealed, stateLife), "states", "put", this.limits),
        seals.seal(JSON.stringify({ h: handle }))
      )
    })
  }
}

const whole = (id: string, json: unknown): Opened | undefined => {
  const state = State.of(json)
  return state === undefined ? undefined : { id, state }
}

/** The span of this round points to that of the first. */
const link = (trace: State.Trace): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const { span } = fiber.cache
    if (span?._tag === "Span") {
      span.addLinks([{ span: Tracer.externalSpan({ ...trace, sampled: true }), attributes: {} }])
    }
    return Effect.void
  })
