import { type Ended, exec } from "../exec.ts"
import type { Project } from "./project.ts"

/** A runtime that has to be able to import every public module of the packed packages. */
export interface Runtime {
  readonly name: string
  /** Runs `importAll.mjs` of the project; the code is 0 when every module was imported. */
  readonly importAll: (project: Project) => Promise<Ended>
}

const node: Runtime = {
  name: `node ${process.versions.node}`,
  importAll: ({ folder }) => exec(process.execPath, ["importAll.mjs"], { cwd: folder })
}

/** All of them, in the order they are tried. */
export const runtimes: ReadonlyArray<Runtime> = [node]
