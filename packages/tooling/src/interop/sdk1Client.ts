/** The client of version 1 of the TypeScript SDK. It offers its newest revision; the server decides. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema
} from "@modelcontextprotocol/sdk/types.js"
import * as Offer from "./offer.ts"
import { calledOf, type CallOptions, type Connect, type More, numberAt, type Target, textsIn } from "./peerClient.ts"
import { tap, tappedFetch, type Wire } from "./wire.ts"

const open = (target: Target, wire: Wire) => {
  if (target.transport === "http" && target.sse === true) {
    const transport = tap(new SSEClientTransport(new URL(target.url), { fetch: tappedFetch(wire) }), wire)
    return { transport, end: () => Promise.resolve(), pid: () => undefined }
  }
  if (target.transport === "http") {
    const transport = tap(new StreamableHTTPClientTransport(new URL(target.url), { fetch: tappedFetch(wire) }), wire)
    return { transport, end: () => transport.terminateSession(), pid: () => undefined }
  }
  const { args, command, cwd, env } = target
  const transport = tap(
    new StdioClientTransport({ command, args: [...args], cwd, env: { ...env }, stderr: "ignore" }),
    wire
  )
  return { transport, end: () => Promise.resolve(), pid: () => transport.pid ?? undefined }
}

const optionsOf = ({ onProgress, signal }: CallOptions) => ({
  ...(signal === undefined ? {} : { signal }),
  ...(onProgress === undefined
    ? {}
    : { onprogress: ({ progress }: { readonly progress: number }) => onProgress(progress) })
})

const moreOf = (client: Client): More => ({
  templates: async () => (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
  complete: async (of, value) => {
    const { completion } = await client.complete(
      of === "prompt"
        ? { ref: { type: "ref/prompt", name: Offer.greet.name }, argument: { name: "who", value } }
        : { ref: { type: "ref/resource", uri: Offer.note.uriTemplate }, argument: { name: "name", value } }
    )
    return completion.values
  },
  ping: async () => void await client.ping(),
  callLogged: async (name) => {
    const heard: Array<unknown> = []
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void heard.push(params.data))
    await client.setLoggingLevel("info")
    await client.callTool({ name })
    return heard
  },
  watch: async (uri) => {
    const heard: Array<string> = []
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.push("tools"))
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void heard.push(params.uri))
    await client.subscribeResource({ uri })
    return heard
  }
})

/** The SDK tells nobody which revision was agreed. */
const versionIn = (wire: Wire): string | undefined =>
  wire.lines.map((line) => /^← .*"protocolVersion":"([^"]+)"/.exec(line)?.[1]).find((version) => version !== undefined)

/** A client that answers what it is asked. */
const answering = (): Client => {
  const { model, name, root, text } = Offer.answers
  const client = new Client(Offer.info, { capabilities: { elicitation: {}, roots: {}, sampling: {} } })
  client.setRequestHandler(
    ElicitRequestSchema,
    ({ params }) =>
      params.message === Offer.whatSecret ? { action: "decline" } : { action: "accept", content: { name } }
  )
  client.setRequestHandler(
    CreateMessageRequestSchema,
    () => ({ role: "assistant", model, content: { type: "text", text } })
  )
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: root }] }))
  return client
}

export const connect: Connect = async (target, _revision, wire) => {
  const client = answering()
  const { end, pid, transport } = open(target, wire)
  // The class calls its session id optional in another way than its own interface does.
  await client.connect(Object.assign(transport, { onclose: () => {}, onerror: () => {} }))
  return {
    revision: () => versionIn(wire),
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    call: async (name, args, options = {}) =>
      calledOf(await client.callTool({ name, arguments: { ...args } }, undefined, optionsOf(options))),
    read: async (uri) => textsIn((await client.readResource({ uri })).contents),
    prompt: async (name, args) => textsIn((await client.getPrompt({ name, arguments: { ...args } })).messages),
    codeOf: (failure) => numberAt(failure, "code"),
    more: moreOf(client),
    pid: pid(),
    close: async () => {
      await end()
      await client.close()
    }
  }
}
