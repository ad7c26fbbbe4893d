import { existsSync, mkdirSync, readdirSync, realpathSync, symlinkSync } from "node:fs"
import { join } from "node:path"

/** Links what is installed in `from`, a `node_modules`; packages of the repository are found in the copy of it. */
export const linkInstalled = (from: string, to: string, copy: string): void => {
  if (!existsSync(from)) return
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) {
    if (name.startsWith(".")) continue
    if (name === "@mcpfx") {
      mkdirSync(join(to, name), { recursive: true })
      for (const pkg of readdirSync(join(from, name))) symlinkSync(join(copy, "packages", pkg), join(to, name, pkg))
    } else if (name.startsWith("@")) linkInstalled(join(from, name), join(to, name), copy)
    else symlinkSync(realpathSync(join(from, name)), join(to, name))
  }
}
