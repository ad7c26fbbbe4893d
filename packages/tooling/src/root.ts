import { fileURLToPath } from "node:url"

/** The root folder of the repository. */
export const root = fileURLToPath(new URL("../../..", import.meta.url)).replace(/[/\\]$/, "")
