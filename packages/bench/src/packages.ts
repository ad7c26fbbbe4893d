import { compile } from "@mcpfx/tooling/compile"
import { root } from "@mcpfx/tooling/root"

/** Compiles the packages of the repository as they are now. */
export const compilePackages = async (): Promise<void> => {
  const { code, output } = await compile(root)
  if (code !== 0) throw new Error(`the packages do not compile\n${output}`)
}
