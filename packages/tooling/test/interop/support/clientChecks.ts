/** What a client of another make has to get from a server of ours. */
import { assert } from "@effect/vitest"
import * as Offer from "../../../src/interop/offer.ts"
import type { Called, More, PeerClient } from "../../../src/interop/peerClient.ts"
import { type Check, eventually, type Running } from "./cell.ts"
import { word } from "./server.ts"

const more = (client: PeerClient): More => {
  if (client.more === undefined) throw new Error("this client has not the means")
  return client.more
}

const statusOf = async (client: PeerClient): Promise<{ readonly waiting: number; readonly cancelled: number }> => {
  const { structured, text } = await client.call("status", {})
  return JSON.parse(structured === undefined ? text : JSON.stringify(structured))
}

/** Structured output came with 2025-06-18; before it there is the same as text. */
const valueOf = ({ structured, text }: Called, { revision }: Running): unknown => {
  if (revision >= "2025-06-18") return structured
  assert.isUndefined(structured)
  return JSON.parse(text)
}

const basic: ReadonlyArray<Check<PeerClient>> = [
  {
    title: "agrees on the revision",
    run: async (client, { revision }) => assert.strictEqual(client.revision(), revision)
  },
  {
    title: "lists tools, resources and prompts",
    run: async (client) => {
      assert.deepStrictEqual((await client.tools()).filter((name) => !Offer.isAsk(name)).toSorted(), Offer.toolNames)
      assert.deepStrictEqual(await client.resources(), [Offer.motd.uri])
      assert.deepStrictEqual(await client.prompts(), [Offer.greet.name])
    }
  },
  {
    title: "gets a structured result",
    run: async (client, cell) => {
      const result = await client.call("add", { a: 1, b: 2 })
      assert.isFalse(result.isError)
      assert.deepStrictEqual(valueOf(result, cell), { sum: 3 })
    }
  },
  {
    title: "gets the error of a tool as a result",
    run: async (client) => {
      const { isError, text } = await client.call("fail", {})
      assert.deepStrictEqual({ isError, text }, { isError: true, text: Offer.failure })
    }
  },
  {
    title: "gets an error for a tool that is not there",
    run: async (client) => {
      const failure: unknown = await client.call("nowhere", {}).then(() => undefined, (error: unknown) => error)
      assert.strictEqual(client.codeOf(failure), -32602, String(failure))
    }
  },
  {
    title: "reads a resource and a member of a template",
    run: async (client) => {
      assert.strictEqual(await client.read(Offer.motd.uri), Offer.motd.text)
      assert.strictEqual(await client.read("memo://note/ada"), Offer.noteText("ada"))
    }
  },
  {
    title: "gets a prompt",
    run: async (client) => assert.strictEqual(await client.prompt("greet", { who: "Ada" }), Offer.greeting("Ada"))
  },
  {
    title: "cancels a call",
    run: async (client) => {
      const before = await statusOf(client)
      const controller = new AbortController()
      const call = client.call("wait", {}, { signal: controller.signal }).then(() => "answered", () => "cancelled")
      await eventually("the call waits", async () => (await statusOf(client)).waiting === before.waiting + 1)
      controller.abort()
      assert.strictEqual(await call, "cancelled")
      await eventually("the server stops", async () => (await statusOf(client)).waiting === before.waiting)
      assert.strictEqual((await statusOf(client)).cancelled, before.cancelled + 1)
    }
  },
  {
    title: "answers many calls at once, each with its own",
    run: async (client, cell) => {
      const results = await Promise.all(Array.from({ length: 20 }, (_, b) => client.call("add", { a: 100, b })))
      assert.deepStrictEqual(
        results.map((result) => valueOf(result, cell)),
        Array.from({ length: 20 }, (_, b) => ({ sum: 100 + b }))
      )
    }
  },
  {
    title: "runs in the folder and the environment it is given",
    applies: ({ transport }) => transport === "stdio",
    run: async (client, cell) =>
      assert.deepStrictEqual(valueOf(await client.call("where", {}), cell), { cwd: cell.folder, word })
  }
]

const hears = async (client: PeerClient, tool: string) => {
  const heard: Array<number> = []
  await client.call(tool, {}, { onProgress: (value) => heard.push(value) })
  assert.deepStrictEqual(heard, [...Offer.steps])
}

/** What a tool says of the answer that it asked for. */
const told = async (client: PeerClient, tool: string, expected: string): Promise<void> => {
  const { isError, text } = await client.call(tool, {})
  assert.deepStrictEqual({ isError, text }, { isError: false, text: expected })
}

const others: ReadonlyArray<Check<PeerClient>> = [
  {
    title: "fills in a form that a tool asks for, and declines another",
    applies: ({ revision }) => revision >= "2025-06-18",
    run: async (client) => {
      await told(client, Offer.asks.name.name, Offer.hello(Offer.answers.name))
      await told(client, Offer.asks.again.name, Offer.declined)
    }
  },
  {
    title: "answers for its model when a tool asks",
    run: (client) => told(client, Offer.asks.model.name, Offer.answers.text)
  },
  {
    title: "tells a tool its roots",
    run: (client) => told(client, Offer.asks.roots.name, Offer.answers.root)
  },
  { title: "hears progress", run: (client) => hears(client, "steps") },
  { title: "hears progress that comes together with the answer", run: (client) => hears(client, "burst") },
  {
    title: "lists templates and completes for them and for prompts",
    run: async (client) => {
      const { complete, templates } = more(client)
      assert.deepStrictEqual(await templates(), [Offer.note.uriTemplate])
      assert.deepStrictEqual(await complete("prompt", "a"), ["ada", "alan"])
      assert.deepStrictEqual(await complete("template", "al"), ["alan"])
    }
  },
  { title: "finds the server alive", run: (client) => more(client).ping() },
  {
    title: "hears a log message",
    run: async (client) => assert.deepStrictEqual(await more(client).callLogged("say"), [Offer.said])
  },
  {
    title: "hears of changes to a list and to a resource",
    run: async (client) => {
      const heard = await more(client).watch(Offer.motd.uri)
      const before = await client.tools()
      await client.call("grow", {})
      await eventually("the list changes", () => heard.includes("tools"))
      assert.strictEqual((await client.tools()).includes("late"), !before.includes("late"))
      await client.call("grow", {})
      assert.deepStrictEqual(await client.tools(), before)
      await client.call("touch", {})
      await eventually("the resource changes", () => heard.includes(Offer.motd.uri))
    }
  }
]

/** The checks for a client with all means, and for one that has only the first ones. */
export const clientChecks = (means: "all" | "basic"): ReadonlyArray<Check<PeerClient>> =>
  means === "all" ? [...basic, ...others] : basic

/** What is enough to see that a revision was found. */
export const found: ReadonlyArray<Check<PeerClient>> = basic.slice(0, 3)
