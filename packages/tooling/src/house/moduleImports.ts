import { lineAt, scan } from "../scan.ts"
import type { SourceFile } from "../sourceFiles.ts"

/** A module named by an import, an export-from or a type import. */
export interface ModuleImport {
  readonly specifier: string
  readonly line: number
}

const opens = /(?:\bfrom|\bimport|\bimport\s*\()\s*$/

/** Every module that a file imports, in order. */
export const moduleImports = (file: SourceFile): Array<ModuleImport> => {
  const { code, literals } = scan(file.text)
  return literals
    .filter(({ start }) => code[start] !== "/" && opens.test(code.slice(Math.max(0, start - 40), start)))
    .map(({ start, value }) => ({ specifier: value, line: lineAt(file.text, start) }))
}
