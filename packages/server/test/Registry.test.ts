import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import * as fc from "fast-check"
import { type Change, ChangeBus, layerMemory } from "../src/ChangeBus.ts"
import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from "../src/Entry.ts"
import { layer, nameOf, Registry } from "../src/Registry.ts"
import { DuplicateEntry } from "../src/ServerError.ts"

const facts = { visible: undefined, asks: [], scopes: [] }

const tool = (name: string, description = "d"): ToolEntry => ({
  ...facts,
  kind: "tool",
  name,
  descriptor: { name, description, inputSchema: { type: "object" } },
  headerParams: [],
  run: () => Effect.succeed({ content: [] })
})

const resource = (uri: string, text = "t"): ResourceEntry => ({
  ...facts,
  kind: "resource",
  uri,
  descriptor: { uri, name: uri },
  cache: undefined,
  read: () => Effect.succeed({ contents: [{ uri, text }] })
})

const template = (template: string): TemplateEntry => ({
  ...facts,
  kind: "template",
  template,
  descriptor: { uriTemplate: template, name: template },
  cache: undefined,
  match: () => undefined,
  completions: new Map()
})

const prompt = (name: string): PromptEntry => ({
  ...facts,
  kind: "prompt",
  name,
  descriptor: { name },
  get: () => Effect.succeed({ messages: [] }),
  completions: new Map()
})

const Live = Layer.provideMerge(layer, layerMemory)

const listen = Effect.gen(function*() {
  const heard: Array<Change> = []
  yield* (yield* ChangeBus).subscribe((change) => heard.push(change))
  return heard
})

/** Registers in a scope of its own, to be closed by the test. */
const open = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    yield* Scope.provide(effect, scope)
    return Scope.close(scope, Exit.void)
  })

describe("Registry", () => {
  it.effect("[TOL-03] [SCH-24] sorts tools, prompts and templates by name and resources by URI, whatever came first", () =>
    Effect.gen(function*() {
      const registry = yield* Registry
      for (const entry of [tool("b"), tool("B"), tool("a"), prompt("z"), prompt("y")]) yield* registry.register(entry)
      for (const entry of [resource("x://2"), resource("x://10"), template("t/{b}"), template("t/{a}")]) {
        yield* registry.register(entry)
      }
      const { prompts, resources, templates, tools } = registry.snapshot()
      assert.deepStrictEqual(tools.map(nameOf), ["B", "a", "b"])
      assert.deepStrictEqual(prompts.map(nameOf), ["y", "z"])
      assert.deepStrictEqual(resources.map(nameOf), ["x://10", "x://2"])
      assert.deepStrictEqual(templates.map(nameOf), ["t/{a}", "t/{b}"])
    }).pipe(Effect.scoped, Effect.provide(Live)))

  it.effect("finds entries by the name of their own kind, names like __proto__ included", () =>
    Effect.gen(function*() {
      const registry = yield* Registry
      yield* registry.register(tool("x"))
      yield* registry.register(prompt("__proto__"))
      const snapshot = registry.snapshot()
      assert.strictEqual(snapshot.tool("x")?.name, "x")
      assert.isUndefined(snapshot.prompt("x"))
      assert.isUndefined(snapshot.tool("constructor"))
      assert.strictEqual(snapshot.prompt("__proto__")?.name, "__proto__")
      assert.isUndefined(snapshot.resource("x"))
      assert.isUndefined(snapshot.template("x"))
    }).pipe(Effect.scoped, Effect.provide(Live)))

  it.effect("refuses a taken name of the same kind, and lets another kind have it", () =>
    Effect.gen(function*() {
      const registry = yield* Registry
      yield* registry.register(tool("x", "first"))
      yield* registry.register(prompt("x"))
      const error = yield* Effect.flip(registry.register(tool("x", "second")))
      assert.instanceOf(error, DuplicateEntry)
      assert.deepStrictEqual([error.kind, error.name], ["tool", "x"])
      assert.strictEqual(registry.snapshot().tool("x")?.descriptor.description, "first")
    }).pipe(Effect.scoped, Effect.provide(Live)))

  it.effect("lets one of many fibers that want a name at once have it", () =>
    Effect.gen(function*() {
      const registry = yield* Registry
      const fibers = yield* Effect.forEach(
        Array.from({ length: 20 }),
        () => Effect.forkChild(Effect.exit(registry.register(tool("x"))))
      )
      const exits = yield* Effect.forEach(fibers, Fiber.join)
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
      assert.strictEqual(registry.snapshot().tools.length, 1)
    }).pipe(Effect.scoped, Effect.provide(Live)))

  it.effect("[TOL-04] [RES-02] takes an entry away with its scope, and listeners hear of both", () =>
    Effect.gen(function*() {
      const heard = yield* listen
      const registry = yield* Registry
      for (const entry of [tool("a"), prompt("a"), resource("a:b"), template("a:{b}")]) {
        const close = yield* open(registry.register(entry))
        assert.strictEqual(heard.length, 1)
        yield* close
        assert.deepStrictEqual(heard.map(({ kind }) => kind), [
          entry.kind === "tool" ? "tools" : entry.kind === "prompt" ? "prompts" : "resources",
          entry.kind === "tool" ? "tools" : entry.kind === "prompt" ? "prompts" : "resources"
        ])
        heard.length = 0
      }
      const { prompts, resources, templates, tools } = registry.snapshot()
      assert.deepStrictEqual([tools, prompts, resources, templates].map((list) => list.length), [0, 0, 0, 0])
    }).pipe(Effect.scoped, Effect.provide(Live)))

  it.effect("counts every change once and keeps snapshots as they were", () =>
    Effect.gen(function*() {
      const registry = yield* Registry
      const before = registry.snapshot()
      const close = yield* open(registry.register(tool("a")))
      const during = registry.snapshot()
      assert.strictEqual(during, registry.snapshot())
      yield* close
      const after = registry.snapshot()
      assert.deepStrictEqual([before, during, after].map(({ version }) => version), [0, 1, 2])
      assert.deepStrictEqual([before, during, after].map(({ tools }) => tools.length), [0, 1, 0])
      assert.deepStrictEqual([before, during, after].map(({ tool }) => tool("a")?.name), [undefined, "a", undefined])
    }).pipe(Effect.scoped, Effect.provide(Live)))

  it.effect("replaces an entry for a while, tells those who watch the resource, and brings the old one back", () =>
    Effect.gen(function*() {
      const registry = yield* Registry
      yield* registry.register(resource("a:b", "old"))
      const heard = yield* listen
      const close = yield* open(registry.replace(resource("a:b", "new")))
      const read = () => registry.snapshot().resource("a:b")?.descriptor
      const replaced = read()
      assert.deepStrictEqual(heard, [{ kind: "resources" }, { kind: "resource", uri: "a:b" }])
      yield* close
      assert.notStrictEqual(read(), replaced)
      assert.strictEqual(heard.length, 4)
      assert.strictEqual(registry.snapshot().resources.length, 1)
    }).pipe(Effect.scoped, Effect.provide(Live)))

  it.effect("[law] offers what a pile of open registrations has on top, in whatever order they are closed", () =>
    Effect.gen(function*() {
      const registry = yield* Registry
      const step = fc.record({ name: fc.constantFrom("a", "b", "c"), close: fc.nat(5) })
      fc.assert(
        fc.property(fc.array(step, { maxLength: 30 }), (steps) =>
          Effect.runSync(Effect.gen(function*() {
            const piled: Array<{ readonly entry: ToolEntry; readonly close: Effect.Effect<void> }> = []
            const check = () => {
              const expected = new Map(piled.map(({ entry }) => [entry.name, entry]))
              assert.deepStrictEqual(registry.snapshot().tools.map(nameOf), Array.from(expected.keys()).sort())
              for (const [name, entry] of expected) assert.strictEqual(registry.snapshot().tool(name), entry)
            }
            for (const { close, name } of steps) {
              const entry = tool(name)
              piled.push({ entry, close: yield* open(registry.replace(entry)) })
              check()
              const [gone] = piled.splice(close, 1)
              if (gone !== undefined) yield* gone.close
              check()
            }
            for (const { close } of piled) yield* close
          })))
      )
    }).pipe(Effect.provide(Live)))

  it.effect("registers ten thousand entries without sorting them each time", () =>
    Effect.gen(function*() {
      const registry = yield* Registry
      let compared = 0
      const original = Array.prototype.sort
      Array.prototype.sort = function(compare) {
        return original.call(this, (a: unknown, b: unknown) => {
          compared++
          return compare === undefined ? 0 : compare(a, b)
        })
      }
      yield* Effect.ensuring(
        Effect.gen(function*() {
          for (let i = 9999; i >= 0; i--) yield* registry.register(tool(`t${String(i).padStart(4, "0")}`))
          assert.strictEqual(compared, 0)
          assert.strictEqual(registry.snapshot().tools[1]?.name, "t0001")
          assert.isBelow(compared, 10_000 * 20)
        }),
        Effect.sync(() => {
          Array.prototype.sort = original
        })
      )
    }).pipe(Effect.scoped, Effect.provide(Live)))
})
