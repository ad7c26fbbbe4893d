import { parseSync, Visitor, type VisitorObject } from "rolldown/utils"

/** Nodes whose calls give no name its value while a module is loaded. */
const other = [
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression",
  "PropertyDefinition",
  "StaticBlock"
] as const

/** Nodes that give a name its value while a module is loaded. */
const values = ["VariableDeclarator", "ClassDeclaration"] as const

/**
 * Where the calls begin that give the names of a module their values. Manifests promise that such calls do nothing else, but a
 * bundler that keeps one name of a module has to be told of each of the others that it may leave its call out.
 */
export const pureCalls = (code: string): ReadonlyArray<number> => {
  const found = new Set<number>()
  let others = 0
  let named = 0
  const call = ({ start }: { readonly start: number }) => {
    if (others === 0 && named > 0) found.add(start)
  }
  const visitor: VisitorObject = { CallExpression: call, NewExpression: call }
  for (const type of other) {
    visitor[type] = () => void (others += 1)
    visitor[`${type}:exit`] = () => void (others -= 1)
  }
  for (const type of values) {
    visitor[type] = () => void (named += 1)
    visitor[`${type}:exit`] = () => void (named -= 1)
  }
  new Visitor(visitor).visit(parseSync("module.js", code).program)
  return [...found]
}
