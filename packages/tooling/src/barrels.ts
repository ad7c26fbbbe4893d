/** `npm run barrels`: writes `src/index.ts` of every published package, one namespace for each public module. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { wantedBarrels } from "./house/barrels.ts"
import { root } from "./root.ts"
import { sourceFiles } from "./sourceFiles.ts"

for (const [path, text] of wantedBarrels(sourceFiles(root))) writeFileSync(join(root, path), text)
