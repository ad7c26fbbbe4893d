import { assert, describe, it } from "@effect/vitest"
import { Wire } from "../../src/interop/wire.ts"
import type { Fault } from "./support/faults.ts"
import { judge } from "./support/judge.ts"

const fault: Fault = { suite: "s", check: "c", revisions: [], transports: [], fault: "it lies", wire: "\"code\":1" }

/** A check that hears one line and fails or not. */
const heard = (line: string, fails: boolean, listed: Fault | undefined): Promise<string | undefined> => {
  const wire = new Wire()
  wire.received("{\"code\":1} before the check")
  const run = () => {
    wire.received(line)
    return fails ? Promise.reject(new Error("it failed")) : Promise.resolve()
  }
  return judge(listed, wire, run).then(() => undefined, (error: unknown) => String(error))
}

describe("a fault of a peer", () => {
  it("that is not listed fails the check, and shows the wire", async () => {
    const failure = await heard("{\"code\":2}", true, undefined)
    assert.include(failure, "it failed")
    assert.include(failure, "{\"code\":2}")
    assert.notInclude(failure, "before the check")
  })

  it("that is listed is expected with its proof on the wire", async () => {
    assert.isUndefined(await heard("{\"code\":1}", true, fault))
  })

  it("that is listed and cannot be proved fails the check", async () => {
    assert.include(await heard("{\"code\":2}", true, fault), "nothing on the wire proves")
  })

  it("that is listed and mended fails the check", async () => {
    assert.include(await heard("{\"code\":1}", false, fault), "it lies")
  })

  it("that is not there is no failure", async () => {
    assert.isUndefined(await heard("{\"code\":1}", false, undefined))
  })
})
