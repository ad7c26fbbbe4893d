/**
 * The programs that packages are joined for: what a program of each kind imports of them. What the same of these load is
 * written to one file, so each is to be a whole program: what is always loaded together must not look like two things.
 */
const tools = ["schema/Tool", "server/McpStdio", "server/ServerTool"]
const server = ["server/McpServer"]
const client = ["client/McpClient"]

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
  server,
  asking: [...server, "server/Input", "server/Step"],
  protected: [...server, "auth/ResourceServer"],
  client,
  login: [...client, "auth/OAuthClient"]
}

/** Their modules in the repository. */
export const starts: ReadonlyMap<string, ReadonlyArray<string>> = new Map(
  Object.entries(programs).map(([name, modules]) => [
    name,
    modules.map((module) => `packages/${module.replace("/", "/src/")}.ts`)
  ])
)
