/** Our own client, which logs in. */
import { AuthError, type Dpop, type Grant, OAuthClient, UserAgent } from "@mcpfx/auth"
import { McpClient } from "@mcpfx/client"
import type { Version } from "@mcpfx/schema/Revision"
import { Clock, Context, Duration, Effect, Exit, Layer, Scope } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { textsIn } from "../peerClient.ts"
import type { Browser } from "./browser.ts"
import { callback } from "./oidcPeer.ts"
import type { Record } from "./record.ts"
import type { LoggedIn } from "./returning.ts"

export interface Options {
  readonly grant: Grant.Grant<UserAgent.UserAgent>
  readonly revision: Version
  readonly record: Record
  readonly browser?: Browser
  readonly dpop?: Dpop.Dpop
  readonly offlineAccess?: boolean
  /** Presses the button that says no. */
  readonly refuses?: boolean
}

/** More of a client that is ours. */
export interface Ours extends LoggedIn {
  readonly oauth: OAuthClient.OAuthClient["Service"]
}

const agent = (browser: Browser | undefined, refuses: boolean): Layer.Layer<UserAgent.UserAgent> =>
  browser === undefined ? UserAgent.layerNone : Layer.succeed(UserAgent.UserAgent, {
    redirectUris: [callback],
    visit: () =>
      Effect.succeed({
        redirectUri: callback,
        open: (url) => Effect.promise(() => refuses ? browser.refuse(url, callback) : browser.visit(url, callback))
      })
  })

const recorded = ({ fetch }: Record): Layer.Layer<HttpClient.HttpClient> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(
      HttpClient.HttpClient,
      HttpClient.transform((response) => Effect.provideService(response, FetchHttpClient.Fetch, fetch))
    )
  ).pipe(Layer.provide(FetchHttpClient.layer))

/**
 * A clock on which nobody waits for the usual pause of a device between two questions, 5 seconds (RFC 8628, 3.5): the tests
 * have said yes before the first.
 */
const hurried = Effect.map(Clock.Clock, (clock) =>
  new Proxy(clock, {
    get: (target, name): unknown =>
      name === "sleep"
        ? (pause: Duration.Duration) => clock.sleep(Duration.toSeconds(pause) === 5 ? Duration.millis(20) : pause)
        : Reflect.get(target, name)
  }))

/** Connects in the era of a revision, and logs in as the grant does it. */
export const login = async (url: string, options: Options): Promise<Ours> => {
  const { browser, record, refuses = false, revision, ...rest } = options
  const scope = Effect.runSync(Scope.make())
  const client = McpClient.layerHttp({ url, revisions: [revision], info: { name: "interop", version: "1.0.0" } })
  const live = client.pipe(
    Layer.provideMerge(OAuthClient.layer({ url, ...rest })),
    Layer.provide(agent(browser, refuses)),
    Layer.provide(recorded(record))
  )
  const run = <A, E>(effect: Effect.Effect<A, E>): Promise<A> =>
    Effect.runPromise(Effect.flatMap(hurried, (clock) => Effect.provideService(effect, Clock.Clock, clock)))
  const context = await run(Layer.buildWithScope(live, scope))
  const mcp = Context.get(context, McpClient.McpClient)
  const { revision: { version } } = await run(mcp.server).catch(async (error: unknown) => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    throw error
  })
  return {
    oauth: Context.get(context, OAuthClient.OAuthClient),
    call: async (tool) => textsIn((await run(mcp.callTool(tool))).content),
    resume: () => Promise.resolve(),
    revision: () => version,
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

/** The tag of the reason for which somebody could not log in, whatever it has become on the way. */
export const reasonOf = (failure: unknown): string | undefined => {
  const found = AuthError.find(failure)
  return found._tag === "Some" ? found.value.reason._tag : undefined
}
