/** Starts the server under test on a free port of the loopback interface. */
import { type ChildProcess, spawn } from "node:child_process"
import { createServer } from "node:net"
import { join } from "node:path"
import { root } from "../root.ts"

const serverProgram = join(root, "packages/tooling/src/conformance/fixtureServer.ts")
const patience = 60_000

/** A port that was free a moment ago. */
export const freePort = (): Promise<number> =>
  new Promise((settle, fail) => {
    const probe = createServer()
    probe.on("error", fail)
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address()
      probe.close(() => settle(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** A server that listens. */
export interface Running {
  readonly url: string
  readonly child: ChildProcess
  readonly stop: () => Promise<void>
}

/** Resolves when the server listens; rejects when it ends before, or takes longer than a minute. */
export const startServer = async (options: { readonly listener?: boolean } = {}): Promise<Running> => {
  const port = await freePort()
  const child = spawn(process.execPath, [
    serverProgram,
    "--port",
    String(port),
    ...(options.listener === true ? ["--listener"] : [])
  ], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const ended = new Promise<void>((settle) => child.on("close", () => settle()))
  await new Promise<void>((settle, fail) => {
    const timer = setTimeout(() => fail(new Error("the server does not listen")), patience)
    child.on("close", (code) => fail(new Error(`the server ended with ${code}`)))
    child.stdout.on("data", (chunk: Buffer) => {
      if (!chunk.toString("utf8").includes("listening")) return
      clearTimeout(timer)
      settle()
    })
  })
  return {
    url: `http://localhost:${port}/mcp`,
    child,
    stop: () => {
      child.kill("SIGTERM")
      return ended
    }
  }
}
