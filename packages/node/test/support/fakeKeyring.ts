import type { Keyring } from "../../src/internal/keyring.ts"

/** A keychain of the test: what it keeps, and how much one entry may hold, in bytes of UTF-16. */
export const fakeKeyring = (limit = Number.POSITIVE_INFINITY) => {
  const entries = new Map<string, string>()
  /** The calls that fail, by their number. */
  const failing = new Set<number>()
  let calls = 0
  const call = <A>(use: () => A): Promise<A> => {
    calls++
    return failing.has(calls) ? Promise.reject(new Error("it is locked")) : Promise.resolve().then(use)
  }
  class AsyncEntry {
    private readonly name: string
    constructor(service: string, account: string) {
      this.name = `${service}/${account}`
    }
    getPassword(): Promise<string | null> {
      return call(() => entries.get(this.name) ?? null)
    }
    setPassword(password: string): Promise<void> {
      return call(() => {
        if (password.length * 2 > limit) throw new Error("TooLong")
        // As text goes through other languages, halves of characters are lost.
        entries.set(this.name, new TextDecoder().decode(new TextEncoder().encode(password)))
      })
    }
    deleteCredential(): Promise<boolean> {
      return call(() => entries.delete(this.name))
    }
  }
  const keyring: Keyring = { AsyncEntry }
  return {
    keyring,
    entries,
    failing,
    failFrom: (...later: ReadonlyArray<number>) => later.forEach((n) => failing.add(calls + n))
  }
}
