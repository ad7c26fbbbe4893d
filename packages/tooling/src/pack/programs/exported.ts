/** Prints what the modules that it is told of export, a line for each name, and where the same thing was met before. */
const met = new Map<unknown, string>()

const isThing = (value: unknown): boolean =>
  typeof value === "function" || (typeof value === "object" && value !== null)

const isModule = (value: unknown): value is object => Object.prototype.toString.call(value) === "[object Module]"

const print = (path: string, value: unknown): void => {
  const before = isThing(value) ? met.get(value) : undefined
  console.log(`${path}: ${typeof value}${before === undefined ? "" : `, the same as ${before}`}`)
  if (before !== undefined) return
  met.set(value, path)
  if (isModule(value)) { for (const [name, each] of Object.entries(value)) print(`${path} ${name}`, each) }
}

for (const name of process.argv.slice(2)) print(name, await import(name))
