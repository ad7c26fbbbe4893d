/** Server programs: how they are started over stdio, and one that serves HTTP for a whole test file. */
import { assert } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { afterAll, beforeAll } from "vitest"
import type { Target } from "../../../src/interop/peerClient.ts"
import { packed } from "../../../src/packed.ts"
import { root } from "../../../src/root.ts"
import { exitFileIn, patience, type Running } from "./cell.ts"

export type Program = "mcpfxServer" | "sdk1Server" | "sdk2Server" | "effectAiServer"

export const fileOf = (program: Program): Promise<string> =>
  packed(join(root, "packages/tooling/src/interop", `${program}.ts`))

/** A word that only the environment of the child holds. */
export const word = "parsley"

/** The program as a child process of the client, serving every revision or one. */
export const stdioTarget = async (
  program: Program,
  { folder }: Running,
  only?: string
): Promise<Target & { readonly transport: "stdio" }> => ({
  transport: "stdio",
  command: process.execPath,
  args: [
    await fileOf(program),
    `--exit-file=${exitFileIn(folder)}`,
    ...(only === undefined ? [] : [`--revision=${only}`])
  ],
  cwd: folder,
  env: { INTEROP_WORD: word }
})

/** Serves HTTP on a free port while the tests of the enclosing file run; its exit code has to be 0. */
export const serveHttp = (
  program: Program,
  ...args: ReadonlyArray<string>
): { readonly url: (path: string) => string } => {
  let port = 0
  beforeAll(async () => {
    const child = spawn(process.execPath, [await fileOf(program), "--transport=http", ...args], {
      stdio: ["pipe", "pipe", "pipe"]
    })
    let errors = ""
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors += text
    })
    const exited = once(child, "exit")
    const lines = createInterface(child.stdout)
    const [line] = await Promise.race([once(lines, "line"), exited])
    port = Number(/^listening (\d+)$/.exec(String(line))?.[1])
    if (Number.isNaN(port)) throw new Error(`${program} does not listen: ${String(line)} ${errors}`)
    return async () => {
      child.stdin.end()
      const [code] = await exited
      assert.strictEqual(code, 0, errors)
    }
  }, patience)
  afterAll(() => {
    port = 0
  })
  return { url: (path) => `http://127.0.0.1:${port}${path}` }
}
