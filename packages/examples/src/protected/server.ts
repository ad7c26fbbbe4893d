/** The diary server: each caller has a diary of their own. Handlers see who calls, and never the token. */
import { McpServer } from "@mcpfx/server"
import { Principal } from "@mcpfx/transport"
import { Context, Effect, Layer, Option } from "effect"
import { Read, Write } from "./contract.ts"

export class Diaries extends Context.Service<Diaries, {
  readonly pagesOf: (owner: string) => Effect.Effect<ReadonlyArray<string>>
  /** Gives the number of pages there are then. */
  readonly add: (owner: string, page: string) => Effect.Effect<number>
}>()("protected/Diaries") {
  static readonly layer: Layer.Layer<Diaries> = Layer.sync(this, () => {
    const diaries = new Map<string, ReadonlyArray<string>>()
    const pagesOf = (owner: string) => diaries.get(owner) ?? []
    return {
      pagesOf: (owner) => Effect.sync(() => pagesOf(owner)),
      add: (owner, page) =>
        Effect.sync(() => {
          const pages = [...pagesOf(owner), page]
          diaries.set(owner, pages)
          return pages.length
        })
    }
  })
}

/** Only callers with a token get as far as here, so there is always somebody. */
const caller = Effect.map(Principal.CurrentPrincipal, (principal) => Option.getOrThrow(principal).subject)

const ReadLive = McpServer.tool(Read, () =>
  Effect.gen(function*() {
    const owner = yield* caller
    return { owner, pages: yield* (yield* Diaries).pagesOf(owner) }
  }))

const WriteLive = McpServer.tool(Write, ({ page }) =>
  Effect.gen(function*() {
    return { pages: yield* (yield* Diaries).add(yield* caller, page) }
  }))

export const Registrations = Layer.mergeAll(ReadLive, WriteLive)

export const info = { name: "diary", version: "1.0.0" }
