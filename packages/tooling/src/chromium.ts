/**
 * A real browser for tests: Chromium as the system has it, without a window, with an empty profile of its own that is gone
 * with its scope.
 */
import { Context, Data, Effect, Layer } from "effect"
import { existsSync } from "node:fs"
import { type BrowserContext, chromium } from "playwright-core"
import { leftOut } from "./leftOut.ts"
import { temporaryFolder } from "./ownedProcess.ts"

/** The browser could not be started, or did not do what it was told. */
export class ChromiumFailed extends Data.TaggedError("ChromiumFailed")<{ readonly cause: unknown }> {
  override get message(): string {
    return String(this.cause)
  }
}

const usual = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]

/** Where the browser is, if there is one: `MCPFX_CHROMIUM`, or where packages of the system put it. */
const program = (process.env["MCPFX_CHROMIUM"] === undefined ? usual : [process.env["MCPFX_CHROMIUM"]]).find((file) =>
  existsSync(file)
)

let told = false

/** Whether there is a browser to start; says in one line what is left out where there is none. */
export const hasChromium = (): boolean => {
  if (program === undefined && !told) leftOut("logins in a real browser: there is no chromium in /usr/bin")
  told = true
  return program !== undefined
}

/** It looks for nothing on the network by itself. */
const quiet = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-proxy-server"
]

/** Machines that do many things at once need seconds to start it. */
const patience = 40_000

/** Runs what a browser does; its failures are typed. */
export const attempt = <A>(action: () => Promise<A>): Effect.Effect<A, ChromiumFailed> =>
  Effect.tryPromise({ try: action, catch: (cause) => new ChromiumFailed({ cause }) })

/** A browser that is ready for pages. */
export class Chromium extends Context.Service<Chromium, BrowserContext>()("tooling/Chromium") {}

/** A browser that runs as long as the layer. */
export const layerChromium: Layer.Layer<Chromium, ChromiumFailed> = Layer.effect(
  Chromium,
  Effect.gen(function*() {
    const profile = yield* temporaryFolder("chromium")
    const context = yield* Effect.acquireRelease(
      attempt(() =>
        chromium.launchPersistentContext(profile, {
          ...(program === undefined ? {} : { executablePath: program }),
          headless: true,
          args: quiet,
          timeout: patience
        })
      ),
      (context) => Effect.ignore(attempt(() => context.close()))
    )
    context.setDefaultTimeout(patience)
    return context
  })
)
