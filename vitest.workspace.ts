import { readdirSync } from "node:fs"
import { defineConfig } from "vitest/config"

/** One project per package that has tests; vitest 5 reads projects from its config (`--config vitest.workspace.ts`). */
const packages = readdirSync(new URL("./packages", import.meta.url)).toSorted()

export default defineConfig({
  test: {
    // The default leaves one core idle, which is half of a small machine.
    maxWorkers: "100%",
    projects: packages.map((name) => ({
      test: {
        name,
        root: `packages/${name}`,
        include: ["test/**/*.test.ts"],
        testTimeout: 20_000,
        hookTimeout: 20_000,
        pool: "forks" as const,
        // Importing what a file needs takes three times as long as its tests: files of one worker share it.
        isolate: false
      }
    }))
  }
})
