import { buildPackages } from "./buildPackages.ts"
import { root } from "./root.ts"

const { code, output } = await buildPackages(root)
process.stdout.write(output)
process.exitCode = code
