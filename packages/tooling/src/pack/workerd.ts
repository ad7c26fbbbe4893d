import { build } from "esbuild"
import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Ended } from "../exec.ts"
import type { Project } from "./project.ts"

const patience = 60_000

/** One worker on a free port; it may fetch from its own address. */
const config = `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    ( name = "main",
      worker = (
        modules = [ ( name = "worker.js", esModule = embed "worker.js" ) ],
        compatibilityDate = "2026-11-01",
        globalOutbound = "outside"
      ) ),
    ( name = "outside", network = ( allow = ["public", "private"] ) )
  ],
  sockets = [ ( name = "http", address = "127.0.0.1:0", http = (), service = "main" ) ]
);
`

/** Asks the worker to run its suites; the body has a line for each case. */
const ask = async (port: number): Promise<Ended> => {
  const response = await fetch(`http://127.0.0.1:${port}/suites`, { signal: AbortSignal.timeout(patience) })
  return { code: response.ok ? 0 : 1, output: await response.text() }
}

const serve = (binary: string, folder: string): Promise<Ended> =>
  new Promise((settle) => {
    const child = spawn(binary, ["serve", "worker.capnp", "--control-fd=3"], {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe", "pipe"]
    })
    let said = ""
    let events = ""
    const finish = ({ code, output }: Ended) => {
      clearTimeout(timer)
      child.kill("SIGKILL")
      settle({ code, output: code === 0 ? output : `${output}${said}` })
    }
    const timer = setTimeout(() => finish({ code: 1, output: "workerd does not listen\n" }), patience)
    const failed = (error: unknown) => finish({ code: 1, output: `${String(error)}\n` })
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        said += chunk.toString("utf8")
      })
    }
    child.stdio[3]?.on("data", (chunk: Buffer) => {
      const heard = /"port":(\d+)/.exec(events)
      events += chunk.toString("utf8")
      const port = /"port":(\d+)/.exec(events)?.[1]
      if (heard === null && port !== undefined) ask(Number(port)).then(finish, failed)
    })
    child.on("error", failed)
    child.on("close", (code) => finish({ code: 1, output: `workerd ended with ${code}\n` }))
  })

/** Bundles the worker as a platform would, with nothing of Node, and runs its suites inside workerd. */
export const runInWorkerd = async (binary: string, { folder }: Project): Promise<Ended> => {
  const bundled = await build({
    absWorkingDir: folder,
    entryPoints: ["suites/worker.ts"],
    outfile: "worker.js",
    bundle: true,
    format: "esm",
    platform: "browser",
    conditions: ["workerd", "worker"],
    logLevel: "silent"
  }).catch((error: unknown) => String(error))
  if (typeof bundled === "string") return { code: 1, output: `${bundled}\n` }
  writeFileSync(join(folder, "worker.capnp"), config)
  return serve(binary, folder)
}
