/** The client of `effect/ai`, which speaks the revision it is told. */
import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { Effect, Exit, Layer, Scope } from "effect"
import { McpClient, McpClientError, McpProtocol, McpSchema } from "effect/ai"
import type { HttpClient } from "effect/http"
import { ChildProcess, type ChildProcessSpawner } from "effect/process"
import * as Offer from "./offer.ts"
import { calledOf, type Connect, type Target, textsIn } from "./peerClient.ts"
import type { Wire } from "./wire.ts"

const protocolOf = (revision: string | undefined) => {
  if (revision === "2026-07-28") return McpProtocol.v2026_07_28
  if (revision === "2025-11-25") return McpProtocol.v2025_11_25
  throw new Error(`effect/ai has no client of ${revision}`)
}

const transportTo = (
  target: Target,
  revision: string | undefined
): Effect.Effect<McpClient.Transport, McpClientError.McpClientError, Needed> => {
  const protocol = protocolOf(revision)
  if (target.transport === "http") {
    return McpClient.http({ url: target.url, protocol })
  }
  const { args, command, cwd, env } = target
  return McpClient.stdio({
    protocol,
    command: ChildProcess.make(command, args, { cwd, env: { ...env }, extendEnv: true })
  })
}

type Needed = HttpClient.HttpClient | ChildProcessSpawner.ChildProcessSpawner | Scope.Scope

/** Requests and answers; the envelope is not to be seen from outside. */
const tapped = (transport: McpClient.Transport, wire: Wire): McpClient.Transport => ({
  ...transport,
  request: (...args) => {
    wire.sent(args)
    return transport.request(...args).pipe(
      Effect.tap((answer) => Effect.sync(() => wire.received(answer))),
      Effect.tapError((error) => Effect.sync(() => wire.received(error)))
    )
  }
})

const codeOf = (failure: unknown): number | undefined =>
  McpClientError.isMcpClientError(failure) && "code" in failure.reason ? failure.reason.code : undefined

export const connect: Connect = async (target, revision, wire) => {
  const scope = Effect.runSync(Scope.make())
  const run = <A, E>(effect: Effect.Effect<A, E>, signal?: AbortSignal): Promise<A> =>
    Effect.runPromise(effect, signal === undefined ? undefined : { signal })
  const services = await run(Layer.buildWithScope(Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici), scope))
  const transport = await run(
    Effect.provide(transportTo(target, revision), services).pipe(Effect.provideService(Scope.Scope, scope))
  )
  const client = await run(
    McpClient.make(Offer.info).pipe(
      Effect.provideService(McpClient.Transport, tapped(transport, wire)),
      Effect.provideService(Scope.Scope, scope)
    )
  )
  const listed = new Map<string, McpSchema.Tool>()
  return {
    revision: () => client.protocolVersion,
    tools: async () => {
      const tools = await run(client.listTools())
      for (const tool of tools) listed.set(tool.name, tool)
      return tools.map(({ name }) => name)
    },
    resources: async () => (await run(client.listResources())).map(({ uri }) => uri),
    prompts: async () => (await run(client.listPrompts())).map(({ name }) => name),
    call: async (name, args, { signal } = {}) => {
      const tool = listed.get(name) ?? new McpSchema.Tool({ name, inputSchema: { type: "object" } })
      return calledOf({ ...await run(client.callTool({ tool, arguments: args }), signal) })
    },
    read: async (uri) => textsIn((await run(client.readResource({ uri }))).contents),
    prompt: async (name, args) => {
      const prompt = new McpSchema.Prompt({ name })
      return textsIn((await run(client.getPrompt({ prompt, arguments: args }))).messages)
    },
    codeOf,
    more: undefined,
    pid: undefined,
    close: () => run(Scope.close(scope, Exit.void))
  }
}
