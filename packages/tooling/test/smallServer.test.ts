import { assert, describe, it } from "@effect/vitest"
import { build } from "esbuild"
import { join } from "node:path"
import { root } from "../src/root.ts"

/** What a server of one tool over standard input and output has no use for, and what each of them brings along. */
const engines = {
  "rounds of questions":
    /packages\/server\/src\/(?:RequestState|AskError|Input|Step|internal\/(?:asks|rounds|roundState|makeAsks|push))\.ts$/,
  "tasks": /packages\/(?:server\/src\/(?:Tasks|internal\/task(?!Dialect)\w+)|session\/src\/TaskState)\.ts$/,
  "a validator of JSON Schemas":
    /packages\/session\/src\/(?:JsonSchemaValidator|internal\/(?:jsonSchema|pattern)\w+)\.ts$/,
  "HTTP": /packages\/(?:server\/src\/McpHttp|transport\/src\/(?:StreamableHttpServer|Sse\w*))\.ts$/,
  "configuration": /\/effect\/dist\/Config(?:Provider)?\.js$/,
  "other libraries": /node_modules\/(?:@noble|@cfworker)\//
} as const

/** The modules that Node loads before the first line of a program runs: whatever is imported, used or not. */
const loaded = async (program: string): Promise<ReadonlyArray<string>> => {
  const { metafile } = await build({
    absWorkingDir: root,
    stdin: { contents: program, resolveDir: join(root, "packages/bench"), loader: "ts" },
    bundle: true,
    platform: "node",
    format: "esm",
    treeShaking: false,
    ignoreAnnotations: true,
    packages: "bundle",
    write: false,
    metafile: true,
    logLevel: "silent"
  })
  return Object.keys(metafile.inputs)
}

const small = `
  import * as McpStdio from "@mcpfx/server/McpStdio"
  import * as ServerTool from "@mcpfx/server/ServerTool"
  import * as Tool from "@mcpfx/schema/Tool"
  console.log(McpStdio, ServerTool, Tool)
`

describe("a small server", () => {
  it("loads none of the engines that it does not use", async () => {
    const modules = await loaded(small)
    assert.include(modules, "packages/server/src/McpStdio.ts")
    for (const [name, engine] of Object.entries(engines)) {
      assert.deepStrictEqual(modules.filter((path) => engine.test(path)), [], name)
    }
  }, 60_000)

  it("is the exception: McpServer has every one of them", async () => {
    const modules = await loaded(`import * as McpServer from "@mcpfx/server/McpServer"
      import * as Input from "@mcpfx/server/Input"
      console.log(McpServer, Input)`)
    for (const [name, engine] of Object.entries(engines)) {
      assert.isNotEmpty(modules.filter((path) => engine.test(path)), name)
    }
  }, 60_000)
})
