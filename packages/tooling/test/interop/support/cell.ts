/** One cell of the table: a client and a server of different make, at one revision, over one transport. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { Wire } from "../../../src/interop/wire.ts"
import * as Matrix from "../../../src/matrix.ts"
import { faultAt, faults, type Place } from "./faults.ts"
import { judge, shown } from "./judge.ts"

/** Something that is true of every cell, whoever the peer is. */
export interface Check<Client> {
  readonly title: string
  readonly run: (client: Client, cell: Running) => Promise<void>
  /** Left out where it does not apply. */
  readonly applies?: (place: Place) => boolean
}

export interface Running extends Place {
  readonly wire: Wire
  /** An empty folder of this cell alone. */
  readonly folder: string
}

export interface Cell<Client> extends Place {
  /** How the revision was found. */
  readonly how: "told" | "by itself"
  readonly connect: (running: Running) => Promise<Client>
  readonly checks: ReadonlyArray<Check<Client>>
  readonly close: (client: Client) => Promise<void>
  /** The server process, where the client may have started others to probe with. */
  readonly pidOf?: (client: Client) => number | undefined
}

/** Waits for what has to come true soon, and fails when it does not. */
export const eventually = async (what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> => {
  const end = performance.now() + 12_000
  while (!(await isTrue())) {
    if (performance.now() > end) assert.fail(`${what} did not come true`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Where programs over stdio write their numbers and exit codes, one a line. */
export const exitFileIn = (folder: string): string => join(folder, "exit")

const codeIn = (folder: string, pid: number | undefined): string | undefined => {
  if (!existsSync(exitFileIn(folder))) return undefined
  const lines = readFileSync(exitFileIn(folder), "utf8").trim().split("\n").map((line) => line.split(" "))
  return lines.find(([of]) => pid === undefined || of === String(pid))?.[1]
}

/** A program may take long to start where others run too. */
export const patience = 60_000

const closing = "ends in order and leaves nothing behind"
const titles = new Map<string, Set<string>>()

export const cell = <Client>(options: Cell<Client>): void => {
  const { checks, close, connect, how, revision, suite, transport } = options
  const place: Place = { suite, revision, transport }
  describe(`${suite}, ${revision} ${how}, ${transport}`, () => {
    Matrix.track(place)
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "mcpfx-interop-")))
    const running: Running = { ...place, wire: new Wire(), folder }
    let client: { readonly value: Client } | undefined
    const connected = (): Client => {
      if (client === undefined) throw new Error("there is no connection")
      return client.value
    }
    beforeAll(async () => {
      try {
        client = { value: await connect(running) }
      } catch (error) {
        throw new Error(`could not connect: ${String(error)}\n${shown(running.wire.lines)}`, { cause: error })
      }
    }, patience)
    afterAll(() => rmSync(folder, { recursive: true, force: true }))

    const known = titles.get(suite) ?? new Set<string>()
    titles.set(suite, known.add(closing))
    for (const check of checks) {
      if (check.applies?.(place) === false) continue
      known.add(check.title)
      it(`${check.title}`, () =>
        judge(faultAt(place, check.title), running.wire, () => check.run(connected(), running)))
    }
    it(`${closing}`, () =>
      judge(faultAt(place, closing), running.wire, async () => {
        await close(connected())
        if (transport !== "stdio") return
        const pid = options.pidOf?.(connected())
        await eventually("the end of the server", () => codeIn(folder, pid) !== undefined)
        const code = codeIn(folder, pid)
        running.wire.received(`exit ${code}`)
        assert.strictEqual(code, "0")
      }))
  })
}

/** Makes the title of a check known that runs outside of cells. */
export const isKnown = (suite: string, title: string): void => {
  titles.set(suite, (titles.get(suite) ?? new Set<string>()).add(title))
}

/** Every listed fault has to be one of a check that runs. */
export const faultsAreKnown = (...suites: ReadonlyArray<string>): void => {
  it("lists no fault of a check that is not run", () => {
    const strays = faults.filter(({ check, suite }) => suites.includes(suite) && titles.get(suite)?.has(check) !== true)
    assert.deepStrictEqual(strays, [])
  })
}
