/** How Windows finds a program by its name, and how a batch file such as `npx.cmd` is given its arguments. Pure. */
import * as Result from "effect/Result"

/** What can be started; scripts of other kinds in `PATHEXT` need a program of their own. */
const startable = [".com", ".exe", ".bat", ".cmd"]

/** Names of variables are the same in any case there. */
export const variable = (env: Readonly<Record<string, unknown>>, name: string): string | undefined => {
  const found = Object.entries(env).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1]
  return typeof found === "string" ? found : undefined
}

const extensionsOf = (env: Readonly<Record<string, unknown>>): ReadonlyArray<string> => {
  const listed = (variable(env, "PATHEXT") ?? "").toLowerCase().split(";").map((extension) => extension.trim())
  const known = listed.filter((extension) => startable.includes(extension))
  return known.length === 0 ? startable : known
}

const hasExtension = (name: string, extensions: ReadonlyArray<string>): boolean =>
  extensions.some((extension) => name.toLowerCase().endsWith(extension))

/**
 * The files that a program may be, in the order they are looked for: with the extensions of `PATHEXT`, on the `PATH`. A file
 * without one, such as the `npx` beside `npx.cmd`, is for another kind of shell. The working directory is not searched for
 * a bare name: what lies there may be anybody's.
 */
export const places = (
  program: string,
  env: Readonly<Record<string, unknown>>
): ReadonlyArray<string> => {
  const extensions = extensionsOf(env)
  const names = hasExtension(program, startable) ? [program] : extensions.map((extension) => program + extension)
  if (/[\\/:]/.test(program)) return names
  const directories = (variable(env, "PATH") ?? "").split(";").map((directory) => directory.trim().replaceAll("\"", ""))
  return directories.filter((directory) => directory !== "")
    .flatMap((directory) => names.map((name) => `${directory.replace(/[\\/]+$/, "")}\\${name}`))
}

/** Whether a file is run by `cmd.exe`, which reads its command line as a program does not. */
export const isBatch = (file: string): boolean => /\.(?:bat|cmd)$/i.test(file)

/** Empties itself where it stands, and so parts a per cent sign from what follows: no `%NAME%` is left to be replaced. */
const nothing = "%cd:~,"

/**
 * One argument, always in quotes, between which `cmd.exe` takes no character but `"` and `%` for its own. A quote is written
 * twice, which both it and the program read as one; backslashes before a quote are doubled for the program.
 */
const quote = (argument: string): string => {
  let text = ""
  let backslashes = 0
  for (const character of argument) {
    if (character === "\\") backslashes++
    else {
      if (character === "\"") text += `${"\\".repeat(backslashes)}"`
      if (character === "%") text += `%${nothing}`
      backslashes = 0
    }
    text += character
  }
  return `"${text}${"\\".repeat(backslashes)}"`
}

/** What `cmd.exe` takes at most, with room for how it is called. */
const longest = 8_000

/** Ends the line, whatever it stands in. */
const control = /[\0\r\n]/

/**
 * The command line for a batch file. The file reads it a second time where it hands its arguments on (`%*`): what is between
 * quotes stays there. Fails, with what is wrong, for what no such line can hold.
 */
export const batchLine = (file: string, args: ReadonlyArray<string>): Result.Result<string, string> => {
  if (control.test(file) || /["%]/.test(file) || file.endsWith("\\")) return Result.fail("its path cannot be quoted")
  const broken = args.findIndex((argument) => control.test(argument))
  if (broken !== -1) {
    return Result.fail(`argument ${broken + 1} has an end of line in it, which a batch file cannot be given`)
  }
  const line = [`"${file}"`, ...args.map(quote)].join(" ")
  return line.length > longest ? Result.fail("the arguments are too long for a batch file") : Result.succeed(line)
}
