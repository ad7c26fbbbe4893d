/** `npm run field-cases`: writes the table of field cases with the tests that name them. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../root.ts"
import { fieldCases, fieldCasesPath } from "./fieldCases.ts"
import { traceOf } from "./traceOf.ts"

writeFileSync(join(root, fieldCasesPath), fieldCases(traceOf(root)))
