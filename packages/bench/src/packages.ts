import { buildPackages } from "@mcpfx/tooling/buildPackages"
import { root } from "@mcpfx/tooling/root"

/** Builds what is published of the packages as they are now: that is what is measured. */
export const buildAsPublished = async (): Promise<void> => {
  const { code, output } = await buildPackages(root)
  if (code !== 0) throw new Error(`the packages do not compile\n${output}`)
}
