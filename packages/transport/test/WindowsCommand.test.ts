/** How servers are started on Windows, on whichever system this runs: a disk, paths and a spawner that say so. */
import * as NodePath from "@effect/platform-node/NodePath"
import { assert, describe, it } from "@effect/vitest"
import * as StdioClient from "@mcpfx/transport/StdioClient"
import { Effect, FileSystem, Layer, PlatformError, Redacted, Result } from "effect"
import { type ChildProcess, ChildProcessSpawner } from "effect/process"
import * as fc from "fast-check"
import { batchLine, isBatch, places } from "../src/internal/windowsCommand.ts"
import { admitted, endpoint } from "./support/scripted.ts"

const env = {
  Path: "C:\\Program Files\\nodejs\\;\"C:\\Tools\";;C:\\Windows\\system32",
  PATHEXT: ".COM;.EXE;.BAT;.CMD;.VBS;.JS"
}

/**
 * Reads a line as `cmd.exe` and then the C run time do, for what is between quotes: variables are replaced, `""` is one
 * quote, and a backslash counts before a quote only.
 */
const readBack = (line: string, variables: Readonly<Record<string, string>>): ReadonlyArray<string> => {
  const expanded = line.replace(/%([^%]+)%/g, (whole, name: string) => name === "cd:~," ? "" : variables[name] ?? whole)
  const args: Array<string> = []
  let at = 0
  while (at < expanded.length) {
    assert.strictEqual(expanded[at], "\"")
    let text = ""
    for (at++;; at++) {
      const slashes = /^\\*/.exec(expanded.slice(at))?.[0].length ?? 0
      const quoted = expanded[at + slashes] === "\""
      text += "\\".repeat(quoted ? slashes / 2 : slashes)
      at += slashes
      if (at >= expanded.length) throw new Error("a quote is left open")
      if (!quoted) text += expanded[at]
      else if (expanded[at + 1] === "\"") {
        text += "\""
        at++
      } else break
    }
    args.push(text)
    at += 1
    if (at < expanded.length) assert.strictEqual(expanded[at++], " ")
  }
  return args
}

describe("the program", () => {
  it("[field FRM-16] is looked for by PATHEXT on the PATH, and nowhere else", () => {
    assert.deepStrictEqual(places("npx", env).slice(0, 5), [
      "C:\\Program Files\\nodejs\\npx.com",
      "C:\\Program Files\\nodejs\\npx.exe",
      "C:\\Program Files\\nodejs\\npx.bat",
      "C:\\Program Files\\nodejs\\npx.cmd",
      "C:\\Tools\\npx.com"
    ])
    assert.lengthOf(places("npx", env), 12)
    assert.deepStrictEqual(places("node.EXE", { PATH: "C:\\a" }), ["C:\\a\\node.EXE"])
    assert.deepStrictEqual(places("C:\\a b\\run.cmd", env), ["C:\\a b\\run.cmd"])
    assert.deepStrictEqual(places(".\\run", { pathext: ".cmd" }), [".\\run.cmd"])
    assert.deepStrictEqual(places("my.tool", { PATH: "C:\\a", PATHEXT: ".EXE" }), ["C:\\a\\my.tool.exe"])
    assert.deepStrictEqual(places("npx", {}), [])
  })

  it("[field FRM-16] is a batch file by its extension", () => {
    assert.deepStrictEqual(["a.cmd", "a.BAT", "a.exe", "cmd"].map(isBatch), [true, true, false, false])
  })
})

describe("the line of a batch file", () => {
  it("[field FRM-16] has every argument in quotes", () => {
    const line = batchLine("C:\\Program Files\\nodejs\\npx.cmd", ["-y", "demo server", "", "a\"b", "c\\", "50%"])
    assert.strictEqual(
      Result.getOrThrow(line),
      "\"C:\\Program Files\\nodejs\\npx.cmd\" \"-y\" \"demo server\" \"\" \"a\"\"b\" \"c\\\\\" \"50%%cd:~,%\""
    )
  })

  it("[field FRM-16] gives back what was put in, whatever it is", () => {
    const nasty = fc.array(
      fc.constantFrom("\"", "\\", "%", "^", "&", "|", "<", ">", "!", "(", ")", " ", "a", "PATH", "é")
    )
    fc.assert(fc.property(fc.array(nasty.map((parts) => parts.join(""))), (args) => {
      const line = Result.getOrThrow(batchLine("C:\\a.cmd", args))
      assert.deepStrictEqual(readBack(line, { PATH: "expanded", a: "expanded" }), ["C:\\a.cmd", ...args])
    }))
  })

  it("[field FRM-16] is refused where it cannot be quoted", () => {
    for (const broken of ["a\nb", "a\rb", "a\0b"]) {
      const failed = batchLine("C:\\a.cmd", ["x", broken])
      assert.match(Result.isFailure(failed) ? failed.failure : "", /^argument 2 /)
    }
    for (const file of ["C:\\a\"b.cmd", "C:\\%TEMP%\\a.cmd", "C:\\a\\"]) {
      assert.isTrue(Result.isFailure(batchLine(file, [])), file)
    }
    assert.isTrue(Result.isFailure(batchLine("C:\\a.cmd", ["x".repeat(9_000)])))
  })
})

/** A machine with these files, which remembers what it was to start and then cannot. */
const machine = (...files: ReadonlyArray<string>) => {
  const started: Array<ChildProcess.StandardCommand> = []
  const missing = PlatformError.systemError({ module: "FileSystem", method: "stat", _tag: "NotFound" })
  const info: Partial<FileSystem.File.Info> = { type: "File" }
  const disk = FileSystem.layerNoop({
    stat: (path) => files.includes(path) ? Effect.succeed(info as FileSystem.File.Info) : Effect.fail(missing)
  })
  const spawner = ChildProcessSpawner.make((command) => {
    if (command._tag === "StandardCommand") started.push(command)
    return Effect.fail(PlatformError.systemError({ module: "ChildProcess", method: "spawn", _tag: "Unknown" }))
  })
  const Live = Layer.mergeAll(
    disk,
    NodePath.layerWin32,
    Layer.succeed(ChildProcessSpawner.ChildProcessSpawner, spawner)
  )
  return { started, Live }
}

const start = (command: StdioClient.Options["command"], options: Omit<StdioClient.Options, "command"> = {}) =>
  StdioClient.connect(endpoint(() => admitted), { command, env: { PATH: "C:\\nodejs;C:\\bin" }, ...options }).pipe(
    Effect.flip,
    Effect.scoped
  )

describe("a server on Windows", () => {
  it.effect("[field FRM-16] that is a batch file is run as a line of the shell, without a window", () => {
    const { Live, started } = machine("C:\\nodejs\\npx", "C:\\nodejs\\npx.cmd")
    return Effect.gen(function*() {
      const failure = yield* start(["npx", "-y", Redacted.make("top secret & more")])
      const [command] = started
      assert.strictEqual(command?.command, "\"C:\\nodejs\\npx.cmd\" \"-y\" \"top secret & more\"")
      assert.deepStrictEqual(command?.args, [])
      assert.deepInclude(command?.options, { shell: true, windowsHide: true })
      assert.strictEqual(failure.command, "npx")
      assert.notInclude(JSON.stringify(failure), "secret")
    }).pipe(Effect.provide(Live))
  })

  it.effect("[field FRM-16] that is a program gets its arguments as they are", () => {
    const { Live, started } = machine("C:\\bin\\server.exe", "D:\\work\\tools\\run.exe")
    return Effect.gen(function*() {
      yield* start(["server", "a b"])
      yield* start([".\\tools\\run"], { cwd: "D:\\work" })
      assert.deepStrictEqual(started.map(({ args, command, options }) => [command, args, options.shell]), [
        ["C:\\bin\\server.exe", ["a b"], false],
        ["D:\\work\\tools\\run.exe", [], false]
      ])
    }).pipe(Effect.provide(Live))
  })

  it.effect("[field FRM-16] that is not there is named, with the PATH", () => {
    const { Live, started } = machine("C:\\nodejs\\npx")
    return Effect.gen(function*() {
      const failure = yield* start(["npx"])
      assert.strictEqual(failure.command, "npx")
      assert.include(String(failure.cause), "PATH=C:\\nodejs;C:\\bin")
      assert.deepStrictEqual(started, [])
      const broken = yield* start(["npx", "a\nb"]).pipe(Effect.provide(machine("C:\\bin\\npx.bat").Live))
      assert.include(String(broken.cause), "argument 1")
    }).pipe(Effect.provide(Live))
  })

  it.effect("[field FRM-16] is started by its name where the context has no disk", () => {
    const { Live, started } = machine()
    const Spawner = Layer.effect(ChildProcessSpawner.ChildProcessSpawner, ChildProcessSpawner.ChildProcessSpawner)
    return Effect.gen(function*() {
      yield* start(["npx", "a"])
      assert.deepStrictEqual(started.map(({ command }) => command), ["npx"])
    }).pipe(Effect.provide(Spawner.pipe(Layer.provide(Live))))
  })
})
