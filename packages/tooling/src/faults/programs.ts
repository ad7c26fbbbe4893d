import { fileURLToPath } from "node:url"
import { packed } from "../packed.ts"

/** The file of a program of this folder, packed into one. */
export const program = (name: "stdioServer" | "httpProgram" | "hostileStdio"): Promise<string> =>
  packed(fileURLToPath(new URL(`${name}.ts`, import.meta.url)))
