import { assert, describe, it } from "@effect/vitest"
import { Browser } from "@mcpfx/node"
import { Effect, Result } from "effect"
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Environment, openers } from "../src/internal/openers.ts"

const href = "https://login.example.com/authorize?a=1&b=%22%25PATH%25%22&c=$(id)"

const programs = (platform: string, env: Environment) =>
  Result.match(openers(platform, env, href), {
    onSuccess: (found) => found.map(({ program }) => program),
    onFailure: ({ reason }) => reason
  })

describe("which program opens a page", () => {
  it("[SEC-10] on each system: a program of it, and the address as one argument", () => {
    assert.deepStrictEqual(programs("linux", { DISPLAY: ":0" }), ["xdg-open"])
    assert.deepStrictEqual(programs("freebsd", { WAYLAND_DISPLAY: "wayland-0" }), ["xdg-open"])
    assert.deepStrictEqual(programs("darwin", {}), ["/usr/bin/open"])
    assert.deepStrictEqual(programs("win32", {}), ["C:\\Windows\\System32\\rundll32.exe"])
    assert.deepStrictEqual(programs("win32", { SystemRoot: "D:\\Win" }), ["D:\\Win\\System32\\rundll32.exe"])
    for (const platform of ["linux", "darwin", "win32"]) {
      const [first] = Result.getOrThrow(openers(platform, { DISPLAY: ":0" }, href))
      assert.strictEqual(first?.args.at(-1), href)
      assert.notInclude(["cmd", "cmd.exe", "sh", "powershell"], first?.program)
    }
  })

  it("[field AUT-17] no screen, a shell on another machine and a run of CI have no browser", () => {
    assert.strictEqual(programs("linux", {}), "headless")
    assert.strictEqual(programs("linux", { DISPLAY: "" }), "headless")
    assert.strictEqual(programs("linux", { DISPLAY: ":0", CI: "true" }), "headless")
    assert.strictEqual(programs("darwin", { SSH_CONNECTION: "1 2 3 4" }), "headless")
    assert.strictEqual(programs("win32", { SSH_TTY: "/dev/pts/0" }), "headless")
    assert.deepStrictEqual(programs("darwin", { CI: "false" }), ["/usr/bin/open"])
    // Forwarded over the connection, so the person does see it.
    assert.deepStrictEqual(programs("linux", { DISPLAY: "localhost:10.0", SSH_TTY: "/dev/pts/0" }), ["xdg-open"])
  })

  it("[field AUT-17] BROWSER reaches the screen of the person from a container, unless it would need a shell", () => {
    assert.deepStrictEqual(programs("linux", { BROWSER: "/vscode/bin/browser.sh:firefox" }), ["/vscode/bin/browser.sh"])
    assert.deepStrictEqual(programs("linux", { DISPLAY: ":0", BROWSER: "firefox" }), ["xdg-open", "firefox"])
    for (const BROWSER of ["firefox -P work", "firefox %s", "$(id)", ":firefox"]) {
      assert.strictEqual(programs("linux", { BROWSER }), "headless", BROWSER)
    }
  })

  it("[field AUT-17] WSL has the browser of Windows", () => {
    const rundll = "/mnt/c/Windows/System32/rundll32.exe"
    assert.deepStrictEqual(programs("linux", { WSL_DISTRO_NAME: "Debian" }), ["wslview", rundll])
    assert.deepStrictEqual(programs("linux", { WSL_DISTRO_NAME: "Debian", DISPLAY: ":0" }), [
      "wslview",
      "xdg-open",
      rundll
    ])
  })
})

/** A directory with one program in it; the path in the environment is that directory and what `env` and `sh` need. */
const withProgram = <A, E>(
  name: string,
  script: string,
  use: (directory: string, env: Environment) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const directory = mkdtempSync(join(tmpdir(), "mcpfx-browser-"))
      writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`)
      chmodSync(join(directory, name), 0o755)
      return directory
    }),
    (directory) => use(directory, { PATH: `${directory}:/usr/bin:/bin`, DISPLAY: ":99", OUT: join(directory, "out") }),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  )

const opened = (browser: Browser.Browser, address = href) =>
  Effect.map(
    Effect.result(browser.open(new URL(address))),
    Result.match({
      onSuccess: () => "opened",
      onFailure: ({ reason }) => reason
    })
  )

describe("opening a page", () => {
  it.live("[SEC-10] nothing but https, and http on this machine, is opened", () =>
    withProgram("xdg-open", `touch "$OUT"`, (directory, env) =>
      Effect.gen(function*() {
        const browser = Browser.make({ platform: "linux", env })
        for (
          const address of [
            "javascript:alert(1)",
            "data:text/html,<script>alert(1)</script>",
            "file:///etc/passwd",
            "vbscript:msgbox(1)",
            "http://login.example.com/authorize",
            "http://169.254.169.254/latest",
            "ftp://127.0.0.1/x",
            "ms-settings:privacy",
            `https://login.example.com/?${"x".repeat(20_000)}`
          ]
        ) assert.strictEqual(yield* opened(browser, address), "address", address)
        assert.isFalse(existsSync(join(directory, "out")))
        for (const address of ["http://127.0.0.1:8080/a", "http://localhost:8080/a", "http://[::1]:8080/a"]) {
          assert.strictEqual(yield* opened(browser, address), "opened", address)
        }
        assert.isTrue(existsSync(join(directory, "out")))
      })))

  it.live("[SEC-10] the address reaches the program to the letter, whatever a shell would make of it", () =>
    withProgram("xdg-open", `printf '%s\\n' "$#" "$@" > "$OUT"`, (directory, env) =>
      Effect.gen(function*() {
        const address = "https://login.example.com/a?x=$(touch%20y)&y=`id`;z=%22|w'"
        assert.strictEqual(yield* opened(Browser.make({ platform: "linux", env }), address), "opened")
        const out = readFileSync(join(directory, "out"), "utf8").trimEnd().split("\n")
        assert.deepStrictEqual(out, ["1", new URL(address).href])
      })))

  it.live("[field AUT-17] a program that fails, or is not there, is said at once; the next one is tried", () =>
    withProgram("xdg-open", "exit 4", (directory, env) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* opened(Browser.make({ platform: "linux", env })), "failed")
        assert.strictEqual(
          yield* opened(Browser.make({ platform: "linux", env: { ...env, PATH: "/nonexistent" } })),
          "absent"
        )
        writeFileSync(join(directory, "firefox"), `#!/bin/sh\nexit 0\n`, { mode: 0o755 })
        assert.strictEqual(
          yield* opened(Browser.make({ platform: "linux", env: { ...env, BROWSER: "firefox" } })),
          "opened"
        )
      })))

  it.live("[field AUT-17] a program that has become the browser is not waited for", () =>
    withProgram("xdg-open", `echo $$ > "$OUT"; exec sleep 60`, (directory, env) =>
      Effect.gen(function*() {
        const browser = Browser.make({ platform: "linux", env, patience: "300 millis" })
        assert.strictEqual(yield* opened(browser), "opened")
        const pid = Number(readFileSync(join(directory, "out"), "utf8"))
        assert.isTrue(process.kill(pid, 0))
        process.kill(pid, "SIGKILL")
      })))
})
