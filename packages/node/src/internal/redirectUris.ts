/** Addresses on this machine that a login may come back to (RFC 8252, 7.3). Pure. */

/** A redirect address of the loopback interface, in the parts that matter; the letters are those it was written with. */
export interface Redirect {
  readonly host: "127.0.0.1" | "localhost" | "[::1]"
  /** 0 for any. */
  readonly port: number
  /** From the first slash on, with a query if there is one. */
  readonly rest: string
}

const shape = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(?::(\d{1,5}))?([/?][^#\s]*)?$/

const hosts = { "127.0.0.1": "127.0.0.1", localhost: "localhost", "[::1]": "[::1]" } as const

const isHost = (text: string | undefined): text is keyof typeof hosts =>
  text !== undefined && Object.hasOwn(hosts, text)

/** `undefined` for an address that nobody here can listen at. */
export const parse = (address: string): Redirect | undefined => {
  const [, host, port, rest] = shape.exec(address) ?? []
  if (!isHost(host) || Number(port ?? 0) > 65_535) return undefined
  return { host: hosts[host], port: Number(port ?? 0), rest: rest ?? "" }
}

/** The address as it is sent and registered: with the port that is listened at, everything else to the letter. */
export const withPort = ({ host, rest }: Redirect, port: number): string => `http://${host}:${port}${rest}`

/**
 * What to listen at, best first: the own address where the client is not registered yet, else those of its registration
 * that can be listened at. One without a port stands for any, so the own port is as good as every other.
 */
export const candidates = (
  own: Redirect,
  registered: ReadonlyArray<string> | undefined
): ReadonlyArray<Redirect> => {
  if (registered === undefined) return [own]
  const usable = registered.flatMap((address) => {
    const redirect = parse(address)
    return redirect === undefined ? [] : [redirect.port === 0 ? { ...redirect, port: own.port } : redirect]
  })
  const likeness = (redirect: Redirect) =>
    Number(redirect.host === own.host && redirect.rest === own.rest) + Number(redirect.port === own.port)
  return usable.toSorted((a, b) => likeness(b) - likeness(a))
}
