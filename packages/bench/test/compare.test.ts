import { assert, describe, it } from "@effect/vitest"
import { execFile, execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { afterAll } from "vitest"
import { baseFile, buildBase, findBase } from "../src/compare/base.ts"
import { compare, examine, header, lineOf } from "../src/compare/compare.ts"
import { change, comparison, judge } from "../src/compare/verdict.ts"
import type { Runner } from "../src/compare/works.ts"

const folders: Array<string> = []
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

const emptyFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "mcpfx-compare-test-"))
  folders.push(folder)
  return folder
}

const git = (cwd: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(
    "git",
    ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main", ...args],
    {
      cwd,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"]
    }
  ).trim()

const write = (root: string, path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

/** Two commits; gives the first. */
const repository = (): { readonly root: string; readonly first: string } => {
  const root = emptyFolder()
  git(root, "init", "-q")
  write(root, "file", "one")
  write(
    root,
    "packages/tooling/bin/run.mjs",
    "import { appendFileSync } from 'node:fs'; appendFileSync('ran', process.argv[2] + ' ')"
  )
  git(root, "add", ".")
  git(root, "commit", "-qm", "one")
  const first = git(root, "rev-parse", "HEAD")
  write(root, "file", "two")
  git(root, "commit", "-qam", "two")
  return { root, first }
}

const one = (base: number, head: number, noise = 0) => ({ base, head, noise })

describe("the verdict on a change", () => {
  it("lets a quarter pass, and looks again past it", () => {
    assert.strictEqual(judge(one(100, 100)), "as before")
    assert.strictEqual(judge(one(100, 20)), "as before")
    assert.strictEqual(judge(one(100, 125)), "as before")
    assert.strictEqual(judge(one(100, 126)), "measure again")
  })

  it("fails what is slower twice in a row, and nothing else", () => {
    assert.strictEqual(judge(one(100, 130), one(100, 126)), "slower")
    assert.strictEqual(judge(one(100, 300), one(100, 125)), "as before")
  })

  it("adds what equal builds differ by to what may be lost", () => {
    assert.strictEqual(judge(one(100, 150, 0.2)), "as before")
    assert.strictEqual(judge(one(100, 151, 0.2)), "measure again")
  })

  it("fails where there is no figure", () => {
    assert.strictEqual(judge(one(100, Number.NaN), one(Number.NaN, 100)), "slower")
    assert.strictEqual(judge(one(0, 0), one(0, 0)), "slower")
  })

  it("compares the least of either build, and takes the larger distance between equal ones for the noise", () => {
    const seen = comparison([[12, 10, 11], [10.5, 20]], [[30, 22], [20, 21]])
    assert.deepStrictEqual({ base: seen.base, head: seen.head }, { base: 10, head: 20 })
    assert.approximately(seen.noise, 0.1, 1e-9)
    assert.strictEqual(change(seen), 1)
  })
})

describe("a comparison", () => {
  const recorded = () => {
    const [order, stopped]: [Array<string>, Array<string>] = [[], []]
    let made = 0
    const runner = (name: string, cost: () => number) => (): Promise<Runner> => {
      const id = `${name}${made++}`
      return Promise.resolve({
        turn: () => {
          order.push(id)
          return Promise.resolve(cost())
        },
        stop: () => {
          stopped.push(id)
          return Promise.resolve()
        }
      })
    }
    return { order, stopped, runner }
  }

  it("gives every process its turn in each round, another one first each time", async () => {
    const { order, runner, stopped } = recorded()
    const seen = await compare({ base: runner("base", () => 4), head: runner("head", () => 5) }, {
      rounds: 2,
      turns: 1
    })
    assert.deepStrictEqual(order, ["base0", "head1", "base2", "head3", "head1", "base2", "head3", "base0"])
    assert.deepStrictEqual(seen, { base: 4, head: 5, noise: 0 })
    assert.lengthOf(stopped, 4)
  })

  it("looks again with new processes where head was slower, and only then", async () => {
    const { order, runner } = recorded()
    let slow = true
    const head = runner("head", () => slow ? 8 : 4)
    const pair = { base: runner("base", () => 4), head }
    const stays = await examine(pair, { rounds: 1, turns: 1 })
    assert.lengthOf(stays, 2)
    assert.isTrue(lineOf("work", "ms", stays).failed)
    assert.lengthOf(new Set(order), 8)
    assert.lengthOf(order, 4 + 8)
    slow = false
    const same = await examine(pair, { rounds: 1, turns: 1 })
    assert.lengthOf(same, 1)
    assert.isFalse(lineOf("work", "ms", same).failed)
    assert.lengthOf(lineOf("work", "ms", same).cells, header.length)
  })

  it("leaves no process behind when one does not start, or fails at its work", async () => {
    const { runner, stopped } = recorded()
    const works = runner("base", () => 1)
    const fails = async (head: () => Promise<Runner>): Promise<boolean> =>
      compare({ base: works, head }, { rounds: 1, turns: 1 }).then(() => false, () => true)
    assert.isTrue(await fails(() => Promise.reject(new Error("it does not start"))))
    assert.lengthOf(stopped, 2)
    assert.isTrue(
      await fails(runner("head", () => {
        throw new Error("no answer")
      }))
    )
    assert.lengthOf(stopped, 6)
  })
})

describe("the base", () => {
  it("is the commit that the file names", async () => {
    const { first, root } = repository()
    write(root, baseFile, `${first}\n`)
    assert.deepStrictEqual(await findBase(root), { _tag: "Commit", hash: first })
    assert.deepStrictEqual(await findBase(root, "HEAD~1"), { _tag: "Commit", hash: first })
  })

  it("is absent where there is no file, no history, or no such commit in a shallow clone", async () => {
    const { first, root } = repository()
    assert.deepStrictEqual(await findBase(root), { _tag: "Absent", reason: `${baseFile} is not there` })
    const bare = emptyFolder()
    write(bare, baseFile, first)
    assert.deepStrictEqual(await findBase(bare), { _tag: "Absent", reason: "there is no history here" })
    const shallow = emptyFolder()
    git(shallow, "clone", "-q", "--depth=1", pathToFileURL(root).href, ".")
    write(shallow, baseFile, first)
    const reason = `this clone does not have the commit ${first}`
    assert.deepStrictEqual(await findBase(shallow), { _tag: "Absent", reason })
  })

  it("has to be a hash", async () => {
    const { root } = repository()
    write(root, baseFile, "main\n")
    assert.isTrue(await findBase(root).then(() => false, () => true))
  })

  it("is written as it was, installed and compiled by its own scripts", async () => {
    const { first, root } = repository()
    const folder = emptyFolder()
    await buildBase(root, first, folder)
    rmSync(`${folder}.tar`)
    const read = (name: string): string => execFileSync("cat", [join(folder, name)], { encoding: "utf8" })
    assert.strictEqual(read("file"), "one")
    assert.strictEqual(read("ran"), "setup build ")
  })

  it("that is missing is a skip that is printed, and no pass", async () => {
    const main = fileURLToPath(new URL("../src/compare/main.ts", import.meta.url))
    const missing = "0123456789012345678901234567890123456789"
    const { stdout } = await promisify(execFile)(process.execPath, [main, "--base", missing])
    const lines = stdout.trim().split("\n")
    assert.match(lines[0] ?? "", /^skipped: .*0123456789/)
    assert.strictEqual(lines[1], "0 passed, 0 failed, 1 skipped")
  })
})
