/**
 * Opens a page in the browser of the person in front of this machine.
 *
 * Only https, and http on the loopback interface (SEC-10). No shell has a part in it: the address is one argument of the
 * program that opens pages on this system (`xdg-open`, `open`, `rundll32`; `BROWSER` and WSL are known).
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { spawn } from "node:child_process"
import { env as ownEnv, platform as ownPlatform } from "node:process"
import { type Opener, openers } from "./internal/openers.ts"
import { isVisitable, withoutQuery } from "./internal/visitable.ts"
import { CannotOpen } from "./LoginError.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Browser {
  /**
   * Succeeds when the page was handed to a browser, which says nothing of whether anybody sees it. Fails at once where no
   * browser can be opened.
   */
  readonly open: (url: URL) => Effect.Effect<void, CannotOpen>
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The operating system as Node names it; that of this process by default. */
  readonly platform?: string | undefined
  /** What tells whether there is a screen, and what the browser is started with; that of this process by default. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /**
   * How long the program that opens pages has to say that it cannot; 3 seconds by default. One that still runs then has
   * become the browser: it is left alone, and does not keep this process from its end.
   */
  readonly patience?: Duration.Input | undefined
}

/** Longer than any browser takes from a command line. */
const maxLength = 16_384

const start = ({ args, program }: Opener, env: Readonly<Record<string, string | undefined>>) =>
  Effect.callback<void, CannotOpen>((resume) => {
    const failed = (reason: "absent" | "failed", detail: string) =>
      resume(Effect.fail(new CannotOpen({ reason, detail: `${program} ${detail}` })))
    // A group of its own, or Ctrl-C in this program would end the browser too.
    const spawned = Result.try(() =>
      spawn(program, args, { shell: false, stdio: "ignore", detached: true, windowsHide: true, env })
    )
    if (Result.isFailure(spawned)) return failed("failed", "could not be started")
    const child = spawned.success
    child.once(
      "exit",
      (code) => code === 0 ? resume(Effect.void) : failed("failed", `ended with ${code ?? "a signal"}`)
    )
    child.on("error", (error: NodeJS.ErrnoException) =>
      error.code === "ENOENT"
        ? failed("absent", "is not installed")
        : failed("failed", `could not be started: ${error.code ?? "unknown"}`))
    child.unref()
    return Effect.sync(() => {
      child.removeAllListeners("exit")
    })
  })

/**
 * A browser of this system.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Browser => {
  const platform = options.platform ?? ownPlatform
  const env = options.env ?? ownEnv
  const patience = options.patience ?? "3 seconds"
  const tryAll = Effect.fnUntraced(function*(programs: ReadonlyArray<Opener>) {
    let last = new CannotOpen({ reason: "absent", detail: "nothing that opens pages is installed" })
    for (const program of programs) {
      const outcome = yield* Effect.result(Effect.timeoutOption(start(program, env), patience))
      if (Result.isSuccess(outcome)) return
      if (last.reason === "absent") last = outcome.failure
    }
    return yield* last
  })
  return {
    open: (url) => {
      if (!isVisitable(url)) {
        return Effect.fail(
          new CannotOpen({ reason: "address", detail: `${withoutQuery(url)} is neither https nor here` })
        )
      }
      if (url.href.length > maxLength) {
        return Effect.fail(new CannotOpen({ reason: "address", detail: `${withoutQuery(url)} is too long` }))
      }
      return Effect.flatMap(Effect.fromResult(openers(platform, env, url.href)), tryAll)
    }
  }
}

/**
 * The browser that pages are opened in: the one of this system unless something else is provided, such as the window of a
 * host, or a browser that tests look at.
 *
 * **Example** (A browser that only remembers)
 *
 * ```ts
 * import { Browser } from "@mcpfx/node"
 * import { Effect, Layer } from "effect"
 *
 * const opened: Array<string> = []
 * const Remembering = Layer.succeed(Browser.CurrentBrowser, {
 *   open: (url: URL) => Effect.sync(() => void opened.push(url.href))
 * })
 * const program = Effect.flatMap(Browser.CurrentBrowser, ({ open }) => open(new URL("https://login.example.com/authorize")))
 * Effect.runSync(Effect.provide(program, Remembering))
 * opened // => ["https://login.example.com/authorize"]
 * ```
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentBrowser: Context.Reference<Browser> = Context.Reference<Browser>("@mcpfx/node/CurrentBrowser", {
  defaultValue: () => make()
})

/**
 * A browser of this system with other options.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<never> => Layer.succeed(CurrentBrowser, make(options))

/**
 * No browser, whatever this system has: logins go by what is printed.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerNone: Layer.Layer<never> = Layer.succeed(CurrentBrowser, {
  open: () => Effect.fail(new CannotOpen({ reason: "headless", detail: "this program opens none" }))
})
