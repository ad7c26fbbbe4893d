import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeListener from "@mcpfx/node/NodeListener"
import * as Layer from "effect/Layer"
import { at, Listening, Routes } from "./mcpfxHttp.ts"

NodeRuntime.runMain(Layer.launch(Layer.provide(Listening, NodeListener.layer(Routes, at))))
