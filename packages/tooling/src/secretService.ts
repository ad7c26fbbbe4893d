/**
 * Secret services for tests: a session bus and a keyring daemon of their own, unlocked with an empty password, that keep
 * everything in a folder which goes with the scope.
 */
import { Data, Effect, type Scope } from "effect"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { leftOut } from "./leftOut.ts"
import { ended, owned, stop, temporaryFolder } from "./ownedProcess.ts"

/** The service could not be started; what it said. */
export class SecretServiceNotStarted extends Data.TaggedError("SecretServiceNotStarted")<{ readonly output: string }> {}

export interface SecretService {
  /** The address of the bus, for `DBUS_SESSION_BUS_ADDRESS`. */
  readonly address: string
  /** Ends the keyring daemon at once, as a crash would; the bus stays. */
  readonly kill: Effect.Effect<void>
  /** Starts it again after `kill`: what was kept is on disk. */
  readonly start: Effect.Effect<void, SecretServiceNotStarted>
}

const programs = ["dbus-daemon", "dbus-send", "gnome-keyring-daemon"] as const
const patience = 10_000

let known: boolean | undefined

/** Whether there is a secret service to start; says in one line what is left out where there is none. */
export const hasSecretService = (): boolean => {
  if (known !== undefined) return known
  const missing = process.platform === "linux"
    ? programs.filter((program) => spawnSync(program, ["--version"], { stdio: "ignore" }).error !== undefined)
    : programs
  known = missing.length === 0
  if (!known) leftOut(`what is kept in a keychain: there is no ${missing.join(", no ")} on the path`)
  return known
}

/** Starts a program, and settles when it has said that it is ready. */
const launch = async (
  program: string,
  args: ReadonlyArray<string>,
  env: Record<string, string>,
  input: string,
  isReady: (output: string) => Promise<boolean>
): Promise<ChildProcess> => {
  const child = owned(spawn(program, args, { env, stdio: ["pipe", "pipe", "pipe"] }))
  let output = ""
  child.once("error", (error) => (output += String(error)))
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")))
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")))
  child.stdin.on("error", () => {})
  child.stdin.end(input)
  for (const end = performance.now() + patience; performance.now() < end;) {
    if (await isReady(output)) return child
    if (ended(child)) break
    await new Promise((settle) => setTimeout(settle, 20))
  }
  child.kill("SIGKILL")
  throw new Error(`${program}: ${output}`)
}

const accepts = (path: string): Promise<boolean> =>
  new Promise((settle) => {
    const socket = connect(path, () => {
      socket.destroy()
      settle(true)
    })
    socket.on("error", () => settle(false))
  })

/** Whether somebody on the bus answers to the name of the secret service. */
const isServed = async (address: string): Promise<boolean> => {
  const asked = spawn(
    "dbus-send",
    [
      `--bus=${address}`,
      "--print-reply",
      "--dest=org.freedesktop.DBus",
      "/org/freedesktop/DBus",
      "org.freedesktop.DBus.NameHasOwner",
      "string:org.freedesktop.secrets"
    ],
    { stdio: ["ignore", "pipe", "ignore"] }
  )
  let reply = ""
  asked.stdout.on("data", (chunk: Buffer) => (reply += chunk.toString("utf8")))
  await once(asked, "close")
  return reply.includes("true")
}

/** A bus on which nothing is started but by the test. */
const busConfig = (address: string): string =>
  [
    "<busconfig>",
    "<type>session</type>",
    `<listen>${address}</listen>`,
    "<policy context=\"default\"><allow send_destination=\"*\"/><allow receive_sender=\"*\"/><allow own=\"*\"/></policy>",
    "</busconfig>"
  ].join("\n")

const started = <A>(launched: () => Promise<A>) =>
  Effect.tryPromise({ try: launched, catch: (error) => new SecretServiceNotStarted({ output: String(error) }) })

/** A service that runs as long as the scope is open. */
export const secretService: Effect.Effect<SecretService, SecretServiceNotStarted, Scope.Scope> = Effect.gen(
  function*() {
    const folder = yield* temporaryFolder("keyring")
    const socket = join(folder, "bus")
    const address = `unix:path=${socket}`
    const env = {
      PATH: process.env["PATH"] ?? "",
      HOME: folder,
      XDG_RUNTIME_DIR: folder,
      XDG_DATA_HOME: join(folder, "data"),
      DBUS_SESSION_BUS_ADDRESS: address
    }
    const config = join(folder, "bus.conf")
    writeFileSync(config, busConfig(address))
    yield* Effect.acquireRelease(
      started(() => launch("dbus-daemon", ["--nofork", `--config-file=${config}`], env, "", () => accepts(socket))),
      (bus) => Effect.promise(() => stop(bus))
    )
    let daemon: ChildProcess | undefined
    const end = Effect.promise(() => stop(daemon))
    const start = Effect.map(
      started(() =>
        launch(
          "gnome-keyring-daemon",
          ["--foreground", "--unlock", "--components=secrets"],
          env,
          "\n",
          () => isServed(address)
        )
      ),
      (child) => {
        daemon = child
      }
    )
    yield* Effect.acquireRelease(start, () => end)
    return { address, kill: end, start }
  }
)
