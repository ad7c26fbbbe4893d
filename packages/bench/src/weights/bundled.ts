/** The bundles that are weighed. */
import { pureCalls } from "@mcpfx/tooling/pureCalls"
import { build, type Plugin, transform } from "esbuild"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { whole } from "../contenders.ts"

/** Paths in a bundle are told from here. */
const root = join(import.meta.dirname, "../../../..")

/** Sources as they are published: bundlers are told which calls may be left out. */
const published: Plugin = {
  name: "published",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/packages\/[^/]+\/src\/.+\.ts$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, "utf8"), { loader: "ts" })
      const pieces: Array<string> = []
      let from = 0
      for (const at of pureCalls(code).toSorted((a, b) => a - b)) {
        pieces.push(code.slice(from, at))
        from = at
      }
      return { contents: [...pieces, code.slice(from)].join("/* @__PURE__ */ "), loader: "js" }
    })
}

/** A program with all it imports; with lines from the sources, since what is published has many of them in one file. */
export const bundled = async (entry: string, lines: boolean): Promise<string> => {
  const { outputFiles } = await build({
    ...whole,
    absWorkingDir: root,
    ...(lines ? { plugins: [published] } : { conditions: ["mcpfx-dist"] }),
    minifyIdentifiers: true,
    minifySyntax: true,
    minifyWhitespace: !lines,
    write: false,
    entryPoints: [entry]
  })
  return outputFiles.map(({ text }) => text).join("")
}
