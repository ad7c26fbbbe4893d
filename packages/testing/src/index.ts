export * as TestPeer from "./TestPeer.ts"
export * as TestServer from "./TestServer.ts"
