import { assert, beforeAll, describe, it } from "@effect/vitest"
import type { McpClient, McpClientError } from "@mcpfx/client"
import { Limits } from "@mcpfx/transport"
import { Effect, Exit, Scope } from "effect"
import { type Mode, modes } from "../../src/faults/hostile.ts"
import { type HttpMode, httpModes, start } from "../../src/faults/hostileHttp.ts"
import { program } from "../../src/faults/programs.ts"
import { eventually, httpClient, noMore, resources, stdioClient, within } from "./support.ts"

// What packs the program stays in the process, and so does what the first child of all opens.
beforeAll(async () => {
  await program("hostileStdio")
  await Effect.runPromise(Effect.scoped(stdioClient("2025-11-25", {}, "hostileStdio", ["junk"])))
})

const timeout = "400 millis"
const limits = Limits.layer({ clientMessageIn: 2 ** 20 })

/** What a call gives: its text, or the reason of its failure. */
const outcome = (effect: Effect.Effect<unknown, McpClientError.McpClientError>) =>
  Effect.match(effect, {
    onFailure: ({ reason }) => reason._tag,
    onSuccess: (result) => JSON.stringify(result).includes("\"good\"") ? "good" : JSON.stringify(result).slice(0, 200)
  })

const ask = (client: McpClient.McpClient["Service"], mode: HttpMode) =>
  mode === "endless-pages" || mode === "circle"
    ? outcome(client.tools)
    : outcome(client.callTool("any", {}, {
      ...(mode === "huge" ? {} : { timeout, maxTimeout: "600 millis" }),
      ...(mode === "endless-progress" ? { onProgress: () => Effect.void } : {})
    }))

const always: Readonly<Record<Mode, string>> = {
  junk: "good",
  "wrong-id": "TimedOut",
  twice: "good",
  "wrong-shape": "BadAnswer",
  "no-shape": "BadAnswer",
  "null-result": "BadAnswer",
  both: "BadAnswer",
  "endless-pages": "PagesUnbounded",
  circle: "PagesUnbounded",
  "endless-progress": "TimedOut",
  huge: "TooLarge",
  deep: "BadAnswer",
  silent: "TimedOut",
  close: "ConnectionLost",
  half: "ConnectionLost"
}

const overHttp: Readonly<Record<HttpMode, string>> = {
  ...always,
  // An error without an id, on the very stream of a request, is about that request.
  "wrong-id": "Refused",
  close: "HttpRefused",
  half: "HttpRefused",
  "sse-garbage": "HttpRefused",
  "sse-comments": "TimedOut",
  "sse-endless-line": "TooLarge",
  "404": "HttpRefused",
  "500": "HttpRefused",
  "401": "HttpRefused",
  "204": "HttpRefused",
  "redirect-loop": "HttpRefused",
  "redirect-away": "HttpRefused",
  html: "HttpRefused",
  cut: "HttpRefused",
  // It comes too slowly to grow too large.
  "no-length": "TimedOut"
}

/** Uses a client of its own scope, and looks at what is left after it. */
const leavesNothing = <E>(run: Effect.Effect<string, E, Scope.Scope>) =>
  Effect.gen(function*() {
    const before = yield* resources
    const scope = yield* Scope.make()
    const result = yield* run.pipe(Scope.provide(scope), within("the call", 5000))
    yield* Scope.close(scope, Exit.void).pipe(within("the end of the client", 6000))
    return { before, result }
  })

describe("a client of a hostile server", () => {
  for (const version of ["2025-11-25", "2026-07-28"] as const) {
    // The one and the other read the same way; what differs is what an answer is.
    for (
      const mode of version === "2025-11-25"
        ? modes
        : (["wrong-shape", "null-result", "endless-progress"] as const)
    ) {
      it.live(`over stdio, ${version}, ${mode}: ${always[mode]}, and nothing is left`, () =>
        Effect.gen(function*() {
          const { before, result } = yield* leavesNothing(
            Effect.flatMap(stdioClient(version, {}, "hostileStdio", [mode]), (client) => ask(client, mode))
          )
          assert.strictEqual(result, always[mode])
          yield* eventually("nothing is left", Effect.map(resources, (now) => noMore(now, before))).pipe(
            Effect.onError(() => Effect.flatMap(resources, (now) => Effect.sync(() => console.log(before, now))))
          )
        }).pipe(Effect.provide(limits)))
    }

    for (const mode of httpModes) {
      it.live(`over HTTP, ${version}, ${mode}: ${overHttp[mode]}, and nothing is left`, () =>
        Effect.gen(function*() {
          const server = yield* Effect.acquireRelease(
            Effect.promise(() => start(mode)),
            (server) => Effect.sync(() => server.close())
          )
          const { result } = yield* leavesNothing(
            Effect.flatMap(httpClient(server.port, version, {}, { reconnect: { maxRetries: 0 } }), (client) =>
              ask(client, mode))
          )
          assert.strictEqual(result, overHttp[mode])
          yield* eventually(
            "no request is open",
            Effect.sync(() =>
              server.open() === 0
            )
          )
        }).pipe(Effect.provide(limits)))
    }
  }
})
