/** What the installed versions of the official conformance suite ask for. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { exec } from "../exec.ts"
import { packed } from "../packed.ts"
import { root } from "../root.ts"

/** Which side is under test. The last one is that of authorization servers. */
export type Leg = "server" | "client" | "authorization"

/** One scenario on one side, on the wire of one revision (`undefined`: the suite's own choice). */
export interface Task {
  readonly suite: Suite
  readonly leg: Leg
  readonly scenario: string
  readonly revision: string | undefined
}

/** One version of the suite. */
export interface Suite {
  readonly version: string
  readonly folder: string
}

const modules = join(root, "packages/tooling/node_modules")

export const current: Suite = {
  version: "0.2.0-alpha.12",
  folder: join(modules, "@modelcontextprotocol/conformance")
}

/** The version other SDKs publish their results with; it knows nothing newer than 2025-11-25. */
export const older: Suite = { version: "0.1.16", folder: join(modules, "conformance-0.1") }

/** The program of a suite; each scenario starts it anew. */
export const program = ({ folder }: Suite): Promise<string> => packed(join(folder, "dist/index.js"))

/** The revisions with a frozen set of required scenarios. */
export const revisions = ["2025-11-25", "2026-07-28"] as const

/** The names listed under a key of one of the suite's requirement files, or of our lists of expected failures. */
export const namesUnder = (yaml: string, key: string): Array<string> => {
  const names: Array<string> = []
  let inside = false
  for (const line of yaml.split("\n")) {
    if (/^\S/.test(line) && !line.startsWith("#")) inside = line.startsWith(`${key}:`)
    const name = /^\s+- ([\w./:-]+)\s*(?:#.*)?$/.exec(line)?.[1]
    if (inside && name !== undefined) names.push(name)
  }
  return names
}

/** The scenarios that a revision requires, and those it lists without scoring them. */
export const required = (leg: "server" | "client", revision: string): Array<Task> => {
  const yaml = readFileSync(join(current.folder, "requirements", `${revision}.yaml`), "utf8")
  return namesUnder(yaml, leg).map((scenario) => ({ suite: current, leg, scenario, revision }))
}

/** Every scenario of a suite on one side, each on every stateful or modern wire it runs on. */
export const all = async (suite: Suite, leg: "server" | "client"): Promise<Array<Task>> => {
  const { output } = await exec(process.execPath, [await program(suite), "list", `--${leg}`])
  return output.split("\n").flatMap((line): Array<Task> => {
    const [, scenario, window] = /^\s+- (\S+)(?: \[([^\]]*)\])?/.exec(line) ?? []
    if (scenario === undefined) return []
    const wires = revisions.filter((revision) => window?.includes(revision) === true)
    if (suite === older || wires.length === 0) return [{ suite, leg, scenario, revision: undefined }]
    return wires.map((revision) => ({ suite, leg, scenario, revision }))
  })
}

/** Whether a scenario is one of authorization. */
export const isOfAuth = ({ scenario }: Task): boolean => scenario.startsWith("auth/")

/** The scenarios for authorization servers, which no revision requires. */
export const authorization: ReadonlyArray<Task> = ["authorization-server-metadata-endpoint", "authorization-code-grant"]
  .map((scenario) => ({ suite: current, leg: "authorization", scenario, revision: undefined }))
