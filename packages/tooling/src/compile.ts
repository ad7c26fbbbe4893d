import { type Ended, execBin } from "./exec.ts"
import { publishedPackages } from "./publishedPackages.ts"

/** Compiles every published package to its `dist`. */
export const compile = (root: string): Promise<Ended> =>
  execBin(root, "typescript", ["-b", ...publishedPackages(root).map((pkg) => `packages/${pkg}`)])
