import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { readFileSync } from "node:fs"
import * as Capabilities from "../src/Capabilities.ts"
import * as Codes from "../src/Codes.ts"
import * as Methods from "../src/Methods.ts"
import type { Revision, Sender, Version } from "../src/Revision.ts"
import * as Revisions from "../src/Revisions.ts"

const Names = Schema.Array(Schema.String)
const Facts = Schema.Struct({
  revisions: Schema.Record(
    Schema.String,
    Schema.Struct({
      era: Schema.Literals(["legacy", "modern"]),
      clientRequests: Names,
      serverRequests: Names,
      inputRequests: Names,
      clientNotifications: Names,
      serverNotifications: Names,
      errorCodes: Schema.Array(
        Schema.Struct({ code: Schema.Int, name: Schema.String, http: Schema.optionalKey(Schema.Int) })
      ),
      clientCapabilities: Names,
      serverCapabilities: Names,
      inputRequiredMethods: Schema.optionalKey(Names),
      cacheableMethods: Schema.optionalKey(Names),
      forbiddenErrorCodes: Schema.optionalKey(Schema.Array(Schema.Int)),
      flags: Schema.Struct({
        batching: Schema.Boolean,
        primingEvents: Schema.Boolean,
        versionHeaderAfterInit: Schema.Boolean,
        structuredContent: Schema.Literals(["none", "object", "any"])
      })
    })
  ),
  tasksExtension: Schema.Struct({ methods: Names, notifications: Names, resultType: Schema.String })
})

const facts = Schema.decodeUnknownSync(Facts)(
  JSON.parse(readFileSync(new URL("./fixtures/facts.json", import.meta.url), "utf8"))
)

const sentBy = (table: ReadonlyMap<string, Sender>, side: Sender): ReadonlyArray<string> =>
  [...table].filter(([, sender]) => sender === side || sender === "both").map(([name]) => name).sort()

const factsOf = (version: Version) => {
  const found = facts.revisions[version]
  if (found === undefined) throw new Error(version)
  return found
}

const reaches = (capabilities: unknown, path: string): boolean => {
  const found = path.split(".").reduce<unknown>(
    (at, name) => typeof at === "object" && at !== null ? Reflect.get(at, name) : undefined,
    capabilities
  )
  return found !== undefined
}

/** Capabilities that declare a dotted name, as the tables of the protocol spell them. */
const declared = (path: string): object => {
  const names = path.split(".")
  const last = names.pop() ?? ""
  const innermost = { [last]: /listChanged|subscribe/.test(last) ? true : {} }
  return names.reduceRight<object>((inner, name) => ({ [name]: inner }), innermost)
}

for (const revision of Revisions.all) {
  const fact = factsOf(revision.version)

  describe(`tables of ${revision.version}`, () => {
    it("[RPC-24] requests of each side are those of the protocol", () => {
      assert.deepStrictEqual(sentBy(revision.requests, "client"), [...fact.clientRequests].sort())
      assert.deepStrictEqual(sentBy(revision.requests, "server"), [...fact.serverRequests].sort())
    })

    it("[MRT-04] what can be asked for in a round is what the protocol says", () => {
      assert.deepStrictEqual([...revision.inputs].sort(), [...fact.inputRequests].sort())
      assert.strictEqual(revision.input(Methods.ElicitationCreate) !== undefined, revision.era === "modern")
      assert.strictEqual(revision.input(Methods.SamplingCreateMessage) !== undefined, revision.era === "modern")
      assert.strictEqual(revision.input(Methods.RootsList) !== undefined, revision.era === "modern")
    })

    it("[RPC-09] notifications of each side are those of the protocol", () => {
      assert.deepStrictEqual(sentBy(revision.notifications, "client"), [...fact.clientNotifications].sort())
      assert.deepStrictEqual(sentBy(revision.notifications, "server"), [...fact.serverNotifications].sort())
    })

    it("[RPC-24] a method that is not in the table has no codec, one that is has its own", () => {
      for (const method of Object.values(Methods)) {
        if (method.kind === "request") {
          assert.strictEqual(
            revision.request(method)?.name,
            revision.requests.has(method.name) ? method.name : undefined
          )
          assert.strictEqual(revision.request(method) === revision.requestByName(method.name), true)
        } else {
          const known = revision.notifications.has(method.name)
          assert.strictEqual(revision.notification(method)?.name, known ? method.name : undefined)
        }
      }
      for (const name of ["constructor", "__proto__", "vendor/do", "toString"]) {
        assert.isUndefined(revision.requestByName(name))
        assert.isUndefined(revision.notificationByName(name))
      }
    })

    it("[RPC-10] [TOL-06] [HTTP-28] [LIF-11] features are those of the protocol", () => {
      assert.strictEqual(revision.era, fact.era)
      assert.strictEqual(revision.features.batching, fact.flags.batching)
      assert.strictEqual(revision.features.primingEvent, fact.flags.primingEvents)
      assert.strictEqual(revision.features.structuredContent, fact.flags.structuredContent)
      assert.strictEqual(revision.features.versionHeader, fact.flags.versionHeaderAfterInit)
      assert.strictEqual(revision.features.resourceNotFound, revision.era === "modern" ? -32602 : -32002)
      assert.strictEqual(revision.features.completionsCapability, fact.serverCapabilities.includes("completions"))
      assert.strictEqual(revision.features.invalidArguments, revision.ordinal < 3 ? "error" : "result")
      assert.strictEqual(revision.features.unreadableId, revision.ordinal < 3 ? "null" : "omit")
    })

    it("[RPC-19] [RPC-20] error codes are those of the protocol, with their statuses", () => {
      for (const { code, http } of fact.errorCodes) {
        assert.isTrue(Codes.mayEmit(code, revision.version), `${code}`)
        if (http !== undefined) assert.strictEqual(Codes.byCode(code)?.httpStatus, http)
      }
      for (const code of fact.forbiddenErrorCodes ?? []) {
        assert.isFalse(Codes.mayEmit(code, revision.version), `${code}`)
      }
      const own = Codes.all.filter((entry) =>
        entry.revisions.includes(revision.version) && entry.code !== Codes.overloaded
      )
      assert.deepStrictEqual(own.map(({ code }) => code).sort(), fact.errorCodes.map(({ code }) => code).sort())
    })

    it("[CAP-01] [CAP-02] capabilities that exist are kept, those of other revisions are left out", () => {
      const everyClient = new Set(Object.values(facts.revisions).flatMap((one) => one.clientCapabilities))
      const everyServer = new Set(Object.values(facts.revisions).flatMap((one) => one.serverCapabilities))
      for (const path of everyClient) {
        const capabilities = declared(path)
        if (!Capabilities.isClient(capabilities)) throw new Error(path)
        const written = Capabilities.clientFor(capabilities, revision.version)
        // Extensions exist on every revision since these objects are open (EXT-03).
        assert.strictEqual(
          reaches(written, path),
          fact.clientCapabilities.includes(path) || path === "extensions",
          path
        )
      }
      for (const path of everyServer) {
        const capabilities = Schema.decodeUnknownSync(Capabilities.Server)(declared(path))
        const written = Capabilities.serverFor(capabilities, revision.version)
        assert.strictEqual(
          reaches(written, path),
          fact.serverCapabilities.includes(path) || path === "extensions",
          path
        )
      }
    })
  })
}

describe("the newest revision and its extension", () => {
  const modern = Revisions.newest
  const fact = factsOf(modern.version)
  const tasks = Revisions.withTasks(modern)

  const keepable = (revision: Revision, method: string): boolean => {
    const written = revision.requestByName(method)?.encodeResult({}) ?? {}
    return "ttlMs" in written && "cacheScope" in written
  }

  it("[CCH-01] exactly the results that may be kept carry hints", () => {
    assert.deepStrictEqual(
      [...modern.requests.keys()].filter((method) => keepable(modern, method)).sort(),
      [...(fact.cacheableMethods ?? [])].sort()
    )
    for (const revision of Revisions.all.filter((one) => one.era === "legacy")) {
      assert.isFalse([...revision.requests.keys()].some((method) => keepable(revision, method)))
    }
  })

  it("[MRT-02] exactly the requests that may end in a round do", () => {
    const round = { resultType: "input_required", requestState: "s" }
    const ends = [...modern.requests.keys()].filter((method) =>
      modern.requestByName(method)?.decodeResult(round)._tag === "Success"
    )
    assert.deepStrictEqual(ends.sort(), [...(fact.inputRequiredMethods ?? [])].sort())
  })

  it("[EXT-06] [TKX-15] tasks are there only for those who opt in, and only on this revision", () => {
    for (const name of facts.tasksExtension.methods) {
      assert.isFalse(modern.requests.has(name))
      assert.strictEqual(tasks.requests.get(name), "client")
    }
    for (const name of facts.tasksExtension.notifications) {
      assert.isFalse(modern.notifications.has(name))
      assert.strictEqual(tasks.notifications.get(name), "server")
    }
    assert.strictEqual(tasks.version, modern.version)
    assert.strictEqual(tasks.ordinal, modern.ordinal)
    for (const revision of Revisions.all.filter((one) => one !== modern)) {
      assert.strictEqual(Revisions.withTasks(revision), revision)
    }
  })
})
