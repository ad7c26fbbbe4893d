/** The tasks of one endpoint: what runs them, and their routes. */
import * as SessionLimits from "@mcpfx/session/SessionLimits"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type { Tasks as Part } from "./parts.ts"
import type { Settings } from "./settings.ts"
import { taskCall } from "./taskCall.ts"
import { TaskEngine } from "./taskEngine.ts"
import { also } from "./taskListen.ts"
import * as Memory from "./taskMemory.ts"
import { TaskStore } from "./taskRecord.ts"
import { addTasks } from "./taskRoutes.ts"
import type { Tasks } from "./taskStart.ts"

/** Tasks whose handlers end with the scope; kept where the program says, else in memory. */
export const make = (settings: Settings): Effect.Effect<Part, never, SecureRandom.SecureRandom | Scope.Scope> =>
  Effect.gen(function*() {
    const store = Option.getOrElse(yield* Effect.serviceOption(TaskStore), Memory.make)
    const { askTimeout } = yield* SessionLimits.SessionLimits
    const random = yield* SecureRandom.SecureRandom
    const context = yield* Effect.context<never>()
    const scope = Scope.makeUnsafe()
    const engine = new TaskEngine({ store, limits: settings.limits, random, askTimeout, scope, context })
    yield* Effect.addFinalizer(() => {
      engine.closeUnsafe()
      return Scope.close(scope, Exit.void)
    })
    const tasks: Tasks = { engine, peers: { of: () => undefined } }
    return {
      peers: tasks.peers,
      addRoutes: (lane) => addTasks(lane, engine),
      call: (lane, gate, wire) => taskCall(tasks, lane, gate, wire),
      also: (lane, wanted, context) => also(engine, lane, wanted, context),
      drain: (deadline) => engine.drain(deadline)
    }
  })
