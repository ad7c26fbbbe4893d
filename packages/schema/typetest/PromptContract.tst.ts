import { Effect, Schema } from "effect"
import { expect, test } from "tstyche"
import * as Prompt from "../src/PromptContract.ts"

const Review = Prompt.make("review", {
  arguments: {
    code: Schema.String,
    depth: Schema.optionalKey(Schema.Int),
    tone: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("kind")))
  }
})

test("keeps the name, and gives decoded arguments", () => {
  expect<Prompt.NameOf<typeof Review>>().type.toBe<"review">()
  expect<Prompt.ArgumentsOf<typeof Review>>().type.toBe<
    { readonly code: string; readonly depth?: number; readonly tone: string }
  >()
  const plain = Prompt.make("plain")
  expect<Prompt.ArgumentsOf<typeof plain>>().type.toBe<{}>()
  expect(Review).type.toBeAssignableTo<Prompt.AnyContract>()
})

test("refuses what is no schema", () => {
  expect(Prompt.make).type.not.toBeCallableWith("bad", { arguments: { a: "string" } })
})
