/** Prints the files that are loaded for the modules that it is told of. */
import { registerHooks } from "node:module"

registerHooks({
  load: (url, context, next) => {
    console.log(url)
    return next(url, context)
  }
})

for (const name of process.argv.slice(2)) await import(name)
