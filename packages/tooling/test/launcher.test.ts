import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { afterAll, vi } from "vitest"
import { root } from "../src/root.ts"

const folders: Array<string> = []
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

/** A repository with nothing in it but the launcher, a demo and an `npx` that writes down how it was called. */
const repository = (npx: string): string => {
  const home = mkdtempSync(join(tmpdir(), "mcpfx-launcher-"))
  folders.push(home)
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
  }
  cpSync(join(root, "packages/tooling/bin"), join(home, "packages/tooling/bin"), { recursive: true })
  write("pnpm-lock.yaml", "lock")
  write("pnpm-workspace.yaml", "workspace")
  write("packages/examples/src/demo.ts", demo)
  write("commands/npx", `#!/bin/sh\necho "$@" >> "${home}/calls"\nmkdir -p node_modules\n${npx}\n`)
  chmodSync(join(home, "commands/npx"), 0o755)
  return home
}

const demo = `const args: Array<string> = process.argv.slice(2)
process.on("SIGTERM", () => process.exit(7))
console.log(JSON.stringify({ args, path: process.env["PATH"] }))
if (args.includes("--fail")) process.exit(3)
if (args.includes("--wait")) setInterval(() => {}, 1000)
`

interface Ended {
  readonly code: number | null
  readonly output: string
}

const run = (home: string, args: ReadonlyArray<string>, onOutput?: (kill: () => void) => void): Promise<Ended> =>
  new Promise((settle) => {
    const { npm_execpath: _, ...env } = process.env
    const path = [join(home, "commands"), process.env["PATH"]].join(delimiter)
    const child = spawn(process.execPath, [join(home, "packages/tooling/bin/run.mjs"), ...args], {
      env: { ...env, PATH: path },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let output = ""
    const add = (chunk: Buffer) => {
      output += chunk.toString("utf8")
      if (output.includes("\"args\"")) onOutput?.(() => child.kill("SIGTERM"))
    }
    child.stdout.on("data", add)
    child.stderr.on("data", add)
    child.on("close", (code) => settle({ code, output }))
  })

const calls = (home: string): Array<string> =>
  existsSync(join(home, "calls")) ? readFileSync(join(home, "calls"), "utf8").trim().split("\n") : []

describe.skipIf(process.platform === "win32")("the launcher", () => {
  it("installs once per lockfile, then runs the script with its arguments", async () => {
    const home = repository("echo noise")
    const first = await run(home, ["demo", "--serve", "a b"])
    assert.strictEqual(first.code, 0, first.output)
    assert.include(first.output, "\"args\":[\"--serve\",\"a b\"]")
    assert.include(first.output, `"path":"${dirname(process.execPath)}:${home}/node_modules/.bin:`)
    assert.notInclude(first.output, "noise")
    assert.deepStrictEqual(calls(home), ["--yes pnpm@12.20.0 install --frozen-lockfile --ignore-scripts"])
    await run(home, ["demo"])
    assert.lengthOf(calls(home), 1)
    writeFileSync(join(home, "pnpm-lock.yaml"), "another lock")
    await run(home, ["demo"])
    assert.lengthOf(calls(home), 2)
  })

  it("installs once when several start together", async () => {
    const home = repository("sleep 0.5")
    const ended = await Promise.all([run(home, ["demo"]), run(home, ["demo"]), run(home, ["demo"])])
    assert.deepStrictEqual(ended.map(({ code }) => code), [0, 0, 0])
    assert.lengthOf(calls(home), 1)
  })

  it("shows what a failed install said, and runs nothing", async () => {
    const home = repository("echo no such package; exit 1")
    const { code, output } = await run(home, ["demo"])
    assert.strictEqual(code, 1)
    assert.include(output, "no such package")
    assert.notInclude(output, "\"args\"")
    await run(home, ["demo"])
    assert.lengthOf(calls(home), 2)
  })

  it("ends with the code of the script", async () => {
    const { code } = await run(repository("true"), ["demo", "--fail"])
    assert.strictEqual(code, 3)
  })

  it("passes signals on and waits for the script to end", async () => {
    const { code } = await run(repository("true"), ["demo", "--wait"], (kill) => kill())
    assert.strictEqual(code, 7)
  })

  it("stops the script when npm's shell is killed", async () => {
    const home = repository("true")
    const stopped = join(home, "stopped")
    writeFileSync(
      join(home, "packages/examples/src/demo.ts"),
      `import { writeFileSync } from "node:fs"
process.on("SIGTERM", () => { writeFileSync(${JSON.stringify(stopped)}, ""); process.exit(0) })
setInterval(() => {}, 1000)
console.log("up")
`
    )
    // `; true` keeps the shell from becoming the launcher itself.
    const shell = spawn("sh", ["-c", `"${process.execPath}" "${home}/packages/tooling/bin/run.mjs" demo; true`], {
      env: {
        ...process.env,
        npm_lifecycle_event: "demo",
        npm_execpath: "",
        PATH: `${home}/commands:${process.env["PATH"]}`
      },
      stdio: ["ignore", "pipe", "ignore"]
    })
    await new Promise((settle) => shell.stdout.once("data", settle))
    shell.kill("SIGTERM")
    await vi.waitFor(() => assert.isTrue(existsSync(stopped)), { timeout: 10_000 })
  })

  it("prefers the packaged Node", async () => {
    const home = repository("true")
    const bin = join(home, "node_modules", `node-${process.platform}-${process.arch}`, "bin")
    mkdirSync(bin, { recursive: true })
    writeFileSync(join(bin, "node"), "#!/bin/sh\necho packaged \"$@\"\n")
    chmodSync(join(bin, "node"), 0o755)
    const { output } = await run(home, ["demo", "x"])
    assert.include(output, `packaged ${home}/packages/examples/src/demo.ts x`)
  })

  it("names the scripts when it does not know one, and the file when a script is not there", async () => {
    const home = repository("true")
    const unknown = await run(home, ["nonsense"])
    assert.strictEqual(unknown.code, 1)
    assert.include(unknown.output, "demo, test, check")
    const missing = await run(home, ["bench"])
    assert.strictEqual(missing.code, 1)
    assert.include(missing.output, "packages/bench/src/main.ts is not in this tree")
  })
})
