/** Imports every file named on the command line, one after the other; exits with 1 when one of them throws. */
const told = (error: unknown): string =>
  error instanceof Error
    ? `${error.message}${error.cause === undefined ? "" : `\n${told(error.cause)}`}`
    : String(error)

for (const file of process.argv.slice(2)) {
  try {
    await import(file)
  } catch (error) {
    process.stdout.write(`${decodeURIComponent(file.slice(file.lastIndexOf("/") + 1))}: ${told(error)}\n`)
    process.exitCode = 1
  }
}
