/** Servers that do nothing, on Effect. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { IncomingMessage } from "node:http"
import { launch, quiet } from "./launch.ts"
import { answer, linesIn, readNode, start } from "./serving.ts"

/** Reads the body as Node's own does, so that what is around it is the difference. */
const readEvents = (request: HttpServerRequest): Effect.Effect<string> =>
  Effect.callback<string>((resume) => {
    const { source } = request
    if (source instanceof IncomingMessage) readNode(source, (text) => resume(Effect.succeed(text)))
    else resume(Effect.succeed(""))
  })

const fixed = (): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(answer, { contentType: "application/json" })

const byEvents = Effect.flatMap(HttpServerRequest, (request) => Effect.map(readEvents(request), fixed))
const byText = Effect.flatMap(HttpServerRequest, (request) => Effect.map(Effect.orDie(request.text), fixed))

start(
  new Map([
    ["http-router", () => launch(HttpRouter.serve(HttpRouter.add("POST", "/mcp", byEvents), quiet))],
    ["http-router-text", () => launch(HttpRouter.serve(HttpRouter.add("POST", "/mcp", byText), quiet))],
    ["stdio-effect", () => {
      const line = `${answer}\n`
      const program = Effect.flatMap(
        Stdio.Stdio,
        (stdio) =>
          stdio.stdin.pipe(
            Stream.map((chunk) => line.repeat(linesIn(chunk))),
            Stream.run(stdio.stdout({ endOnDone: false }))
          )
      )
      NodeRuntime.runMain(Effect.provide(program, NodeServices.layer))
    }]
  ])
)
