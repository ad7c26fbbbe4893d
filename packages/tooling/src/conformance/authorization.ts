/**
 * The suite's scenarios for authorization servers, against the one of `@mcpfx/testing` on a loopback port. The suite runs
 * them all at once, since each goes on with what the one before found, and waits for a person: the browser of the tests.
 */
import { TestAuthorizationServer } from "@mcpfx/testing"
import { Effect, Layer } from "effect"
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { Browser } from "../interop/auth/browser.ts"
import * as LoopbackServer from "../loopbackServer.ts"
import type { Outcome } from "./runTask.ts"
import { freePort } from "./server.ts"
import { current, program } from "./suite.ts"

const clientId = "conformance"
const resource = "https://mcp.test/mcp"
const limit = 60_000

/** How many checks of each scenario have to succeed; the suite counts those it skips as well. */
const needed: Readonly<Record<string, number>> = {
  "authorization-server-metadata-endpoint": 2,
  "authorization-code-grant": 1
}

const run = async (issuer: string, port: number): Promise<string> => {
  const args = ["authorization", "--url", issuer, "--client-id", clientId, "--resource", resource, "--port", `${port}`]
  const child = spawn(process.execPath, [await program(current), ...args], { stdio: ["ignore", "pipe", "pipe"] })
  const lines: Array<string> = []
  const timer = setTimeout(() => child.kill("SIGKILL"), limit)
  child.stderr.on("data", (chunk: Buffer) => lines.push(chunk.toString("utf8")))
  for await (const line of createInterface(child.stdout)) {
    lines.push(line)
    if (!line.startsWith(`${issuer}/`)) continue
    await new Browser().visit(new URL(line)).catch((error: unknown) => lines.push(String(error)))
  }
  clearTimeout(timer)
  return lines.join("\n")
}

const outcomeOf = (scenario: string, output: string): Outcome => ({
  passed: output.includes(`✓ ${scenario}: ${needed[scenario]} passed, 0 failed`),
  output
})

const Port = LoopbackServer.layer()

/** Runs the scenarios; how each ended, by its name. */
export const runAuthorization = async (): Promise<ReadonlyMap<string, Outcome>> => {
  const port = await freePort()
  const client = { clientId, redirectUris: [`http://127.0.0.1:${port}/callback`] }
  const server = TestAuthorizationServer.layerHttp({ clients: [client], resources: [resource] })
  const output = await Effect.runPromise(
    TestAuthorizationServer.TestAuthorizationServer.pipe(
      Effect.flatMap(({ issuer }) => Effect.promise(() => run(issuer, port))),
      Effect.provide(Layer.provide(server, Port))
    )
  )
  return new Map(Object.keys(needed).map((scenario) => [scenario, outcomeOf(scenario, output)]))
}
