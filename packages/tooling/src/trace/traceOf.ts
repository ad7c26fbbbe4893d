import { sourceFiles } from "../sourceFiles.ts"
import { readCatalogue } from "./catalogue.ts"
import { titlesIn } from "./titles.ts"
import { type Trace, trace } from "./trace.ts"

/** The trace of the tree at `root`; `scope` is a file with another scope. */
export const traceOf = (root: string, scope?: string): Trace =>
  trace(readCatalogue(root, scope), titlesIn(sourceFiles(root)))
