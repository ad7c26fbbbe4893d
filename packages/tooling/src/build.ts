import { compile } from "./compile.ts"
import { root } from "./root.ts"

const { code, output } = await compile(root)
process.stdout.write(output)
process.exitCode = code
