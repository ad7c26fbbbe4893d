/** The listeners of one program: logins that come back to the same fixed address share one, and the last one closes it. */
import type * as AuthError from "@mcpfx/auth/AuthError"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { listen, type Listener } from "./callbackListener.ts"
import type { Redirect } from "./redirectUris.ts"

interface Shared {
  readonly key: string
  readonly listener: Listener
  readonly scope: Scope.Closeable
  users: number
}

export interface Listeners {
  /** Open for as long as the scope lives; with port 0 a new one at a free port. */
  readonly borrow: (redirect: Redirect) => Effect.Effect<Listener, AuthError.CallbackUnavailable, Scope.Scope>
}

/** A free port of one address may be taken at the other. */
const tries = 5

export const make = (): Listeners => {
  const open = new Map<string, Shared>()
  const turn = Semaphore.makeUnsafe(1)

  const start = Effect.fnUntraced(function*(redirect: Redirect) {
    const scope = yield* Scope.make()
    const listener = yield* listen(redirect).pipe(
      Scope.provide(scope),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
    const shared: Shared = { key: `${redirect.host}:${listener.port}`, listener, scope, users: 1 }
    open.set(shared.key, shared)
    return shared
  })

  const acquire = (redirect: Redirect) =>
    Effect.suspend(() => {
      const known = redirect.port === 0 ? undefined : open.get(`${redirect.host}:${redirect.port}`)
      if (known === undefined) {
        return redirect.port === 0 ? Effect.retry(start(redirect), { times: tries - 1 }) : start(redirect)
      }
      known.users++
      return Effect.succeed(known)
    })

  const release = (shared: Shared) =>
    Effect.suspend(() => {
      shared.users--
      if (shared.users > 0) return Effect.void
      open.delete(shared.key)
      return Scope.close(shared.scope, Exit.void)
    })

  return {
    borrow: (redirect) =>
      Effect.map(
        Effect.acquireRelease(turn.withPermits(1)(acquire(redirect)), (shared) => turn.withPermits(1)(release(shared))),
        ({ listener }) => listener
      )
  }
}
