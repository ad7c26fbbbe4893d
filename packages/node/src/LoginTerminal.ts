/**
 * The terminal that a person at this program reads and types at, for logins.
 *
 * Everything goes to standard error: standard output may be a protocol.
 *
 * @since 0.1.0
 */
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import { stderr as ownOutput, stdin as ownInput } from "node:process"
import { createInterface } from "node:readline"
import { Unanswered } from "./LoginError.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface LoginTerminal {
  /** Whether somebody can be asked: both the input and what is shown are a terminal's. */
  readonly isInteractive: Effect.Effect<boolean>
  readonly show: (text: string) => Effect.Effect<void>
  /** One line, without its end. One question at a time; the next one waits for its turn. */
  readonly ask: (question: string) => Effect.Effect<string, Unanswered>
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Where answers are typed; standard input by default. */
  readonly input?: (NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined }) | undefined
  /** Where questions are shown; standard error by default. */
  readonly output?: (NodeJS.WritableStream & { readonly isTTY?: boolean | undefined }) | undefined
}

/**
 * A terminal. Nothing is read from the input but while a question waits.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): LoginTerminal => {
  const { input = ownInput, output = ownOutput } = options
  const turn = Semaphore.makeUnsafe(1)
  const ask = (question: string) =>
    Effect.callback<string, Unanswered>((resume) => {
      // Key by key, for a line typed as a whole is cut at 4,095 characters. Nothing is kept for another question.
      const lines = createInterface({ input, output, terminal: true, historySize: 0 })
      const closed = () => end(Effect.fail(new Unanswered({ reason: "closed" })), "\n")
      // What is shown next begins a line of its own, which an answer has ended already. A terminal that is gone takes none.
      const leave = (rest: string) => {
        lines.off("close", closed)
        lines.close()
        if (rest !== "" && input.readable) output.write(rest)
      }
      // The input is let go before anybody goes on, who may ask the next question at once.
      const end = (answer: Effect.Effect<string, Unanswered>, rest: string) => {
        leave(rest)
        resume(answer)
      }
      lines.once("close", closed)
      lines.once("SIGINT", () => end(Effect.fail(new Unanswered({ reason: "quit" })), "\n"))
      lines.question(question, (answer) => end(Effect.succeed(answer), ""))
      return Effect.sync(() => leave("\n"))
    })
  return {
    isInteractive: Effect.sync(() => input.isTTY === true && output.isTTY === true),
    show: (text) =>
      options.output === undefined ? Console.error(text) : Effect.sync(() => void output.write(`${text}\n`)),
    ask: (question) => turn.withPermits(1)(ask(question))
  }
}

/**
 * The terminal of logins: that of this process unless something else is provided.
 *
 * **Example** (A terminal at which nobody sits)
 *
 * ```ts
 * import { LoginError, LoginTerminal } from "@mcpfx/node"
 * import { Effect, Layer } from "effect"
 *
 * const Nobody = Layer.succeed(LoginTerminal.CurrentLoginTerminal, {
 *   isInteractive: Effect.succeed(false),
 *   show: () => Effect.void,
 *   ask: () => Effect.fail(new LoginError.Unanswered({ reason: "closed" }))
 * })
 * const asked = Effect.flatMap(LoginTerminal.CurrentLoginTerminal, ({ isInteractive }) => isInteractive)
 * Effect.runSync(Effect.provide(asked, Nobody)) // => false
 * ```
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentLoginTerminal: Context.Reference<LoginTerminal> = Context.Reference<LoginTerminal>(
  "@mcpfx/node/CurrentLoginTerminal",
  { defaultValue: () => make() }
)

/**
 * A terminal at other streams.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<never> => Layer.succeed(CurrentLoginTerminal, make(options))
