/** What all rounds of an endpoint share: how their states are sealed, opened and checked, and what is sent of them. */
import type { InputRequest, InputRequests } from "@mcpfx/schema/InputRequired"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import * as Methods from "@mcpfx/schema/Methods"
import type { InvalidShape, Revision } from "@mcpfx/schema/Revision"
import * as Principal from "@mcpfx/transport/Principal"
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
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
import { canonical } from "./canonical.ts"
import type { KeptStep } from "./interaction.ts"
import { foreign } from "./retry.ts"
import { Rounds } from "./rounds.ts"
import * as State from "./roundState.ts"
import { sha256 } from "./sha256.ts"
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

const expired = new McpError.InvalidParams({ detail: "requestState has expired", data: { reason: "expired" } })

/** Characters that the state of a handle has at most. */
const handleLength = 1024

const handleOf = (text: string): string | undefined => {
  const wire = State.parse(text)
  return JsonRpc.isJsonObject(wire) && typeof wire["h"] === "string" ? wire["h"] : undefined
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

  /** The first pass. Who and what the request is, is only needed where its state is sealed. */
  open(single: Single): Rounds {
    const none = new Map<string, never>()
    const first: State.RoundState = {
      round: 0,
      principal: "",
      request: "",
      expires: 0,
      call: SecureRandom.uuidV4Unsafe(),
      asked: none,
      answers: none,
      steps: none,
      progress: undefined,
      trace: undefined
    }
    return new Rounds(single, this, first, none)
  }

  /** Takes up where an earlier request ended: checks its state, and has the answers ready for the handler (MRT-07). */
  readonly resume: (
    single: Single,
    request: JsonRpc.Request,
    sealed: string
  ) => Effect.Effect<void, McpError.McpError> = Effect
    .fnUntraced(function*(this: Asks, single: Single, request: JsonRpc.Request, sealed: string) {
      // What is longer than anything that is sealed here is not looked into.
      if (sealed.length > Math.max(this.limits.stateBytes, handleLength)) return yield* foreign
      const now = yield* Clock.currentTimeMillis
      const { id, state } = yield* this.unseal(sealed)
      if (state.principal !== Principal.key(single.facts.principal)) return yield* foreign
      if (state.request !== identity(request)) return yield* foreign
      if (state.expires <= now) return yield* expired
      const answers = yield* Effect.fromResult(this.answers(single.revision, state, request, now))
      const { guard } = this.parts
      if (guard !== undefined) {
        const claim = guard.claim(id, Duration.millis(state.expires - now))
        if (!(yield* bounded(claim, "claims", "claim", this.limits))) return yield* foreign
      }
      single.replay(new Rounds(single, this, state, answers), state.progress)
      yield* link(state.trace)
    }).bind(this)

  private readonly unseal = Effect.fnUntraced(function*(this: Asks, sealed: string) {
    const { state, states } = this.parts
    const opened = yield* state.unseal(sealed)
    if (Option.isNone(opened)) return yield* foreign
    const { id, text } = opened.value
    const handle = handleOf(text)
    if (handle === undefined) return { id, state: yield* whole(text) }
    const kept = states === undefined
      ? Option.none<string>()
      : yield* bounded(states.get(handle), "states", "get", this.limits)
    // A handle that we gave out and know no more has had its time.
    if (Option.isNone(kept)) return yield* expired
    const inner = yield* state.unseal(kept.value)
    return Option.isNone(inner) ? yield* foreign : { id, state: yield* whole(inner.value.text) }
  })

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
  readonly send: (rounds: Rounds, now: number) => Effect.Effect<JsonRpc.ResultBody, McpError.McpError> = Effect
    .fnUntraced(function*(this: Asks, rounds: Rounds, now: number) {
      const { single } = rounds
      const { limits } = this
      if (rounds.round >= limits.rounds) {
        yield* Effect.logWarning(new TooManyRounds({ limit: limits.rounds }))
        return yield* new McpError.TooManyRequests({ limit: "rounds" })
      }
      const state: State.RoundState = {
        ...rounds.next(now),
        principal: Principal.key(single.facts.principal),
        request: single.request === undefined ? "" : identity(single.request),
        expires: now + Duration.toMillis(limits.stateLife)
      }
      const requestState = yield* this.seal(state)
      const inputRequests: InputRequests = Object.fromEntries(
        rounds.pending.map(({ key, question }) => [key, question.request])
      )
      const codec = single.revision.requestByName(single.method)
      if (codec === undefined) return yield* new McpError.MethodNotFound({ method: single.method })
      return codec.encodeResult({
        resultType: "input_required",
        inputRequests,
        requestState,
        _meta: { [MetaKey.serverInfo]: this.parts.serverInfo }
      })
    }).bind(this)

  private readonly seal = Effect.fnUntraced(function*(this: Asks, state: State.RoundState) {
    const { state: seals, states } = this.parts
    const { keptStateBytes, stateBytes, stateLife } = this.limits
    const sealed = yield* seals.seal(State.write(state))
    const limit = states === undefined ? stateBytes : keptStateBytes
    if (sealed.length > limit) {
      return yield* Effect.die(new StateTooLarge({ key: State.largest(state), bytes: sealed.length, limit }))
    }
    if (states !== undefined) {
      const handle = Base64Url.encode(SecureRandom.randomBytesUnsafe(16))
      yield* bounded(states.put(handle, sealed, stateLife), "states", "put", this.limits)
      return yield* seals.seal(JSON.stringify({ h: handle }))
    }
    return sealed
  })
}

const whole = (text: string): Effect.Effect<State.RoundState, McpError.McpError> => {
  const state = State.read(text)
  return state === undefined ? foreign : Effect.succeed(state)
}

/** Which request a state belongs to. */
const identity = (request: JsonRpc.Request): string => {
  const { arguments: args, name, uri } = request.params ?? {}
  return sha256(canonical({ method: request.method, name, uri, arguments: args ?? {} }))
}

/** The span of this round points to that of the first. */
const link = (trace: State.Trace | undefined): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const { span } = fiber.cache
    if (trace !== undefined && span?._tag === "Span") {
      span.addLinks([{ span: Tracer.externalSpan({ ...trace, sampled: true }), attributes: {} }])
    }
    return Effect.void
  })
