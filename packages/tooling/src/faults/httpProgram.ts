/** The faulty tools over HTTP as a program, `--listener` behind the listener of the package node: prints its port. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer } from "effect"
import * as Server from "./httpServer.ts"
import { registrations } from "./registrations.ts"

const announce = Layer.effectDiscard(Effect.flatMap(Server.port, (port) => Effect.sync(() => console.log(port))))

const kind = process.argv.includes("--listener") ? "NodeListener" : "NodeHttpServer"

NodeRuntime.runMain(Layer.launch(Layer.provideMerge(announce, Server.layer(registrations(), {}, kind))))
