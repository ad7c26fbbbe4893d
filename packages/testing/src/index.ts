export * as ScriptedServer from "./ScriptedServer.ts"
export * as TestError from "./TestError.ts"
export * as TestPeer from "./TestPeer.ts"
export * as TestServer from "./TestServer.ts"
