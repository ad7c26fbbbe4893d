/** The client of version 2 of the TypeScript SDK; without a revision it probes. */
import { Client, type McpSubscription, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import * as Offer from "./offer.ts"
import { calledOf, type CallOptions, type Connect, type More, numberAt, type Target, textsIn } from "./peerClient.ts"
import { tap, tappedFetch, type Wire } from "./wire.ts"

const modern = "2026-07-28"

const open = (target: Target, wire: Wire) => {
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

const capabilities = { elicitation: {}, roots: {}, sampling: {} }

const made = (revision: string | undefined): Client => {
  if (revision === undefined) return new Client(Offer.info, { capabilities, versionNegotiation: { mode: "auto" } })
  return revision === modern
    ? new Client(Offer.info, { capabilities, versionNegotiation: { mode: { pin: modern } } })
    : new Client(Offer.info, { capabilities, supportedProtocolVersions: [revision] })
}

/** A client that answers what it is asked. */
const clientFor = (revision: string | undefined): Client => {
  const { model, name, root, text } = Offer.answers
  const client = made(revision)
  client.setRequestHandler(
    "elicitation/create",
    ({ params }) =>
      params.message === Offer.whatSecret ? { action: "decline" } : { action: "accept", content: { name } }
  )
  client.setRequestHandler(
    "sampling/createMessage",
    () => ({ role: "assistant", model, content: { type: "text", text } })
  )
  client.setRequestHandler("roots/list", () => ({ roots: [{ uri: root }] }))
  return client
}

const optionsOf = ({ onProgress, signal }: CallOptions) => ({
  ...(signal === undefined ? {} : { signal }),
  ...(onProgress === undefined
    ? {}
    : { onprogress: ({ progress }: { readonly progress: number }) => onProgress(progress) })
})

const moreOf = (client: Client, listening: Array<McpSubscription>): More => ({
  templates: async () => (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
  complete: async (of, value) => {
    const { completion } = await client.complete(
      of === "prompt"
        ? { ref: { type: "ref/prompt", name: Offer.greet.name }, argument: { name: "who", value } }
        : { ref: { type: "ref/resource", uri: Offer.note.uriTemplate }, argument: { name: "name", value } }
    )
    return completion.values
  },
  ping: async () => void (client.getProtocolEra() === "modern" ? await client.discover() : await client.ping()),
  callLogged: async (name) => {
    const heard: Array<unknown> = []
    client.setNotificationHandler("notifications/message", ({ params }) => void heard.push(params.data))
    if (client.getProtocolEra() === "modern") {
      await client.callTool({ name, _meta: { "io.modelcontextprotocol/logLevel": "info" } })
    } else {
      await client.setLoggingLevel("info")
      await client.callTool({ name })
    }
    return heard
  },
  watch: async (uri) => {
    const heard: Array<string> = []
    client.setNotificationHandler("notifications/tools/list_changed", () => void heard.push("tools"))
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => void heard.push(params.uri))
    if (client.getProtocolEra() === "modern") {
      listening.push(await client.listen({ toolsListChanged: true, resourceSubscriptions: [uri] }))
    } else {
      await client.subscribeResource({ uri })
    }
    return heard
  }
})

export const connect: Connect = async (target, revision, wire) => {
  const client = clientFor(revision)
  const { end, pid, transport } = open(target, wire)
  const listening: Array<McpSubscription> = []
  await client.connect(transport)
  return {
    revision: () => client.getNegotiatedProtocolVersion(),
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    call: async (name, args, options = {}) =>
      calledOf(await client.callTool({ name, arguments: { ...args } }, optionsOf(options))),
    read: async (uri) => textsIn((await client.readResource({ uri })).contents),
    prompt: async (name, args) => textsIn((await client.getPrompt({ name, arguments: { ...args } })).messages),
    codeOf: (failure) => numberAt(failure, "code"),
    more: moreOf(client, listening),
    pid: pid(),
    close: async () => {
      for (const subscription of listening) await subscription.close()
      if (client.getProtocolEra() !== "modern") await end()
      await client.close()
    }
  }
}
