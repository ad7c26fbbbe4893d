import { assert, describe, it } from "@effect/vitest"
import { JsonRpc, Prompt, Resource, Revisions, Tool } from "@mcpfx/schema"
import { Laws } from "@mcpfx/testing"
import { Effect, Result, Schema } from "effect"

const Deploy = Tool.make("deploy", {
  input: { env: Schema.Literals(["test", "live"]), at: Schema.DateFromString, retries: Schema.optionalKey(Schema.Int) },
  output: { started: Schema.DateFromString }
})
const Note = Resource.template("notes://{id}/{section}", {
  name: "note",
  params: { id: Schema.Int, section: Schema.NonEmptyString }
})
const Greet = Prompt.make("greet", { arguments: { name: Schema.String, loud: Schema.optionalKey(Schema.Boolean) } })

const input = Schema.Struct({
  env: Schema.Literals(["test", "live"]),
  at: Schema.Date,
  retries: Schema.optionalKey(Schema.Int)
})
const runs = { arbitrary: { runs: 50 } }

describe("Laws", () => {
  it.effect.prop("[RPC-01] every message is read back from its text", [Laws.message], ([message]) => {
    const law = Laws.roundTrip(
      "messages",
      (one: JsonRpc.Message) => Result.succeed(JSON.parse(JsonRpc.stringify(one))),
      JsonRpc.parse
    )
    return law(message)
  }, runs)

  it.effect.prop(
    "arguments and output of a tool survive",
    [input],
    ([value]) => Effect.andThen(Laws.toolInput(Deploy)(value), Laws.toolOutput(Deploy)({ started: value.at })),
    runs
  )

  it.effect.prop(
    "params of a template survive",
    [Schema.Struct({ id: Schema.Int, section: Schema.NonEmptyString })],
    ([params]) => Laws.template(Note)(params),
    runs
  )

  it.effect.prop(
    "arguments of a prompt survive",
    [Schema.Struct({ name: Schema.String, loud: Schema.optionalKey(Schema.Boolean) })],
    ([args]) => Laws.promptArguments(Greet)(args),
    runs
  )

  it.effect("tells which law is broken, and by what", () =>
    Effect.gen(function*() {
      const lossy = Laws.roundTrip(
        "rounding",
        (n: number) => Result.succeed({ n: Math.round(n) }),
        () => Result.succeed(0)
      )
      assert.strictEqual((yield* Effect.flip(lossy(7))).message, "rounding: {\"n\":7} comes back as {\"n\":0}")
      const blind = Laws.roundTrip("reading", (n: number) => Result.succeed(n), () => Result.fail(new Error("what?")))
      assert.strictEqual((yield* Effect.flip(blind(7))).message, "reading: 7 is not read back: what?")
      const mute = Laws.roundTrip("writing", () => Result.fail("no words"), () => Result.succeed(0))
      assert.strictEqual((yield* Effect.flip(mute(7))).message, "writing: a value does not encode: no words")
    }))

  it("has arbitrary params and results for each method of a revision, and none for others", () => {
    for (const revision of Revisions.all) {
      for (const name of revision.requests.keys()) {
        assert.isDefined(Laws.params(revision, name))
        assert.isDefined(Laws.result(revision, name))
      }
      assert.isUndefined(Laws.params(revision, "constructor"))
      assert.isUndefined(Laws.result(revision, "notifications/progress"))
    }
  })
})
