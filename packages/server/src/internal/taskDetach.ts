/**
 * A call that becomes a task when its handler says so: until then it is a call like any other, whose questions are asked in
 * rounds (TKX-16); from then on its fiber is that of a task.
 */
import type { McpError } from "@mcpfx/schema/McpError"
import type * as Outcome from "@mcpfx/schema/Outcome"
import type * as Tool from "@mcpfx/schema/Tool"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { CurrentTask, type Running } from "./currentTask.ts"
import { entering } from "./enter.ts"
import { CurrentInteraction, type Group, type Interaction } from "./interaction.ts"
import type { Request } from "./lane.ts"
import { Single } from "./single.ts"
import { interactionOf } from "./taskContext.ts"
import type { Live } from "./taskLive.ts"
import { created, outcomeOf, outliving, planOf, requestOf, type Start } from "./taskStart.ts"
import { wayOf } from "./wayToAsk.ts"

const alone: Group = { join: () => {}, fail: () => {}, close: () => {} }

/** Where the handler has come to. */
class Course {
  live: Live | undefined = undefined
  /** The request as its task sees it. */
  task: Request | undefined = undefined
  private way: Interaction | undefined = undefined
  readonly start: Start

  constructor(start: Start) {
    this.start = start
  }

  detached(live: Live): void {
    this.live = live
    this.task = requestOf(this.start, live)
    this.way = interactionOf(this.start.tasks.engine, live, this.start.request)
  }

  /** How a question is asked now. */
  private get current(): Interaction {
    return this.way ?? wayOf(this.start.request)
  }

  readonly interaction: Interaction = {
    ask: (question) => Effect.suspend(() => this.current.ask(question)),
    step: (step) => Effect.suspend(() => this.current.step(step)),
    group: (owner, size) => this.current.group?.(owner, size) ?? alone
  }

  /** The facts of the request; those that belong to its stream change with it. */
  request(): Request {
    const { request } = this.start
    const read = <Name extends keyof Request>(name: Name) => ({
      enumerable: true,
      get: (): Request[Name] => (this.task ?? request)[name]
    })
    const both: Request = Object.create(request)
    return Object.defineProperties(both, {
      notify: read("notify"),
      progress: read("progress"),
      progressToken: read("progressToken"),
      logLevel: read("logLevel"),
      asker: read("asker")
    })
  }
}

/** Serves the call: its result where it ends as one, the handle of its task where it does not. */
export const untilDetached = (start: Start): Effect.Effect<Outcome.ToolCall, McpError> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.callback<Outcome.ToolCall, McpError>((resume) => {
      const { gate, lane, request, tasks: { engine } } = start
      const course = new Course(start)

      const running = (fiber: Fiber.Fiber<unknown, unknown>): Running => ({
        id: () => course.live?.record.id,
        detach: Effect.uninterruptibleMask((restore) =>
          Effect.suspend(() =>
            course.live !== undefined ? Effect.void : Effect.matchEffect(engine.open(planOf(start)), {
              // There is no task to be had: the call is refused, and the handler does not go on.
              onFailure: (error) => {
                resume(Effect.andThen(Fiber.interrupt(fiber), Effect.fail(error)))
                return restore(Effect.never)
              },
              onSuccess: (live) =>
                Effect.sync(() => {
                  course.detached(live)
                  engine.adopt(live, fiber)
                  resume(Effect.succeed(created(live, start)))
                })
            })
          )
        )
      })

      const served = gate(entering(Effect.scoped(outcomeOf(start)), course.request()))
      const body = Effect.withFiber<Tool.CallResult, McpError>((fiber) => {
        // Rounds look at the fiber that the handler runs in, and interrupt that one.
        if (request instanceof Single) request.fiber = fiber
        return Effect.provideService(served, CurrentTask, running(fiber))
      })
      const around = Context.add(outliving(context), CurrentInteraction, course.interaction)
      const fiber = Effect.runForkWith(around)(
        Effect.onExit(
          body,
          (exit) => course.live === undefined ? Effect.void : engine.finish(course.live, exit, lane.revision)
        )
      )
      fiber.addObserver((exit) => {
        if (course.live === undefined) resume(exit)
      })
      return Effect.suspend(() => course.live === undefined ? Fiber.interrupt(fiber) : Effect.void)
    })
  )
