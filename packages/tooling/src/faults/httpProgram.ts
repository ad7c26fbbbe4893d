/** The faulty tools over HTTP as a program: prints the port it listens on. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer } from "effect"
import * as Server from "./httpServer.ts"
import { registrations } from "./registrations.ts"

const announce = Layer.effectDiscard(Effect.flatMap(Server.port, (port) => Effect.sync(() => console.log(port))))

NodeRuntime.runMain(Layer.launch(Layer.provideMerge(announce, Server.layer(registrations()))))
