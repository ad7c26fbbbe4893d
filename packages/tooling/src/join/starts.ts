/**
 * The programs that packages are joined for: what a program of each kind imports of them. What the same of these load is
 * written to one file.
 */
const tools = ["schema/Tool", "server/McpStdio", "server/ServerTool"]

const programs: Readonly<Record<string, ReadonlyArray<string>>> = {
  tools,
  stdio: [
    ...tools,
    "schema/Prompt",
    "schema/Resource",
    "server/Completer",
    "server/ServerPrompt",
    "server/ServerResource"
  ],
  server: ["server/McpServer"],
  asking: ["server/Input", "server/Step"],
  client: ["client/McpClient"],
  protected: ["auth/ResourceServer"],
  login: ["auth/OAuthClient"]
}

/** Their modules in the repository. */
export const starts: ReadonlyMap<string, ReadonlyArray<string>> = new Map(
  Object.entries(programs).map(([name, modules]) => [
    name,
    modules.map((module) => `packages/${module.replace("/", "/src/")}.ts`)
  ])
)
