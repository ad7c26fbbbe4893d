#!/usr/bin/env node
// The one door to every script of this repository: `node packages/tooling/bin/run.mjs <script> [args…]`.
// It runs on Node 20 or later with nothing installed, installs what the lockfile asks for, and then runs the script
// with the Node that the lockfile pins, so that all machines run the same one.
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { install, isInstalled } from "./install.mjs"
import { pinnedNode, withPath } from "./node.mjs"
import { runStep } from "./step.mjs"

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..")

/**
 * What each script runs, step by step. `file` is run by Node, `bin` is the command of an installed package, `bash` a
 * shell script. The arguments of the command line go to the last step.
 */
const scripts = {
  setup: [],
  demo: [{ file: "packages/examples/src/demo.ts" }],
  test: [{ file: "packages/tooling/src/test.ts" }],
  check: [{ file: "packages/tooling/src/test.ts", args: ["--only", "types"] }],
  lint: [{ bin: "oxlint" }],
  format: [{ bin: "dprint", args: ["fmt"] }],
  build: [{ file: "packages/tooling/src/build.ts" }],
  bench: [{ file: "packages/bench/src/main.ts" }],
  "bench:start": [{ file: "packages/bench/src/starts/main.ts" }],
  "bench:growth": [{ file: "packages/bench/src/growth/main.ts" }],
  "bench:compare": [{ file: "packages/bench/src/compare/main.ts" }],
  "bench:weights": [{ file: "packages/bench/src/weights/main.ts" }],
  // A young generation that holds a batch: the collector is looked at apart.
  profile: [{
    file: "packages/bench/src/profile/main.ts",
    node: [
      "--expose-gc",
      "--min-semi-space-size=64",
      "--max-semi-space-size=64",
      "--disable-warning=ExperimentalWarning"
    ]
  }],
  soak: [{ file: "packages/bench/src/soak/main.ts", node: ["--expose-gc", "--disable-warning=ExperimentalWarning"] }],
  conformance: [{ file: "packages/tooling/src/conformance/run.ts" }],
  "fixture:server": [{ file: "packages/tooling/src/conformance/fixtureServer.ts" }],
  "fixture:client": [{ file: "packages/tooling/src/conformance/fixtureClient.ts" }],
  mutations: [{ file: "packages/tooling/src/mutations/run.ts" }],
  barrels: [{ file: "packages/tooling/src/barrels.ts" }],
  trace: [{ file: "packages/tooling/src/trace/run.ts" }],
  "field-cases": [{ file: "packages/tooling/src/trace/fieldCasesDoc.ts" }],
  "pack:check": [{ file: "packages/tooling/src/pack/run.ts" }],
  changeset: [{ bin: "@changesets/cli" }],
  ci: [{ bash: ".ci/run" }]
}

/** The command of one step, with paths resolved against the repository. */
const commandOf = (step, node) => {
  if (step.bash !== undefined) return { command: "bash", args: [join(root, step.bash)] }
  if (step.file !== undefined) {
    const file = join(root, step.file)
    if (!existsSync(file)) throw new Error(`${step.file} is not in this tree`)
    return { command: node, args: [...(step.node ?? []), file, ...(step.args ?? [])] }
  }
  return { command: node, args: [binOf(step.bin), ...(step.args ?? [])] }
}

/** The JavaScript entry of an installed command, so that no shell shim is needed on any system. */
const binOf = (name) => {
  const folder = join(root, "node_modules", name)
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  const bin = typeof manifest.bin === "string" ? manifest.bin : Object.values(manifest.bin)[0]
  return join(folder, bin)
}

const fail = (message) => {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

const main = async ([name, ...args]) => {
  const steps = scripts[name]
  if (steps === undefined) fail(`No script ${name ?? "given"}. There are: ${Object.keys(scripts).join(", ")}`)
  // The check script starts from what is on disk, and installs itself as one of its timed stages.
  const bare = steps.some((step) => step.bash !== undefined)
  if (!bare && !isInstalled(root)) await install(root)
  const node = bare ? process.execPath : pinnedNode(root)
  const env = bare ? process.env : withPath(root, node)
  for (const [index, step] of steps.entries()) {
    const { command, args: own } = commandOf(step, node)
    const code = await runStep(command, index === steps.length - 1 ? [...own, ...args] : own, env)
    if (code !== 0) process.exit(code)
  }
}

main(process.argv.slice(2)).catch((error) => fail(error.message))
