/** A client of another make against our server, in one cell. */
import { assert } from "@effect/vitest"
import type { Connect, PeerClient } from "../../../src/interop/peerClient.ts"
import type { Wire } from "../../../src/interop/wire.ts"
import { cell, type Check } from "./cell.ts"
import { stdioTarget } from "./server.ts"

export interface ClientCell {
  readonly suite: string
  readonly connect: Connect
  readonly revision: string
  /** What the client is told; it finds the revision by itself where there is nothing. */
  readonly told: string | undefined
  /** Whether the server has this revision alone; all otherwise. */
  readonly only: boolean
  readonly transport: "stdio" | "http"
  readonly http: { readonly url: (path: string) => string }
  /** Over HTTP+SSE instead of Streamable HTTP. */
  readonly sse?: boolean
  readonly checks: ReadonlyArray<Check<PeerClient>>
  /** Whether the client opens the stream of its session and ends the session. */
  readonly sessions: boolean
}

/** The stream of the session was open, and the session was ended. */
const sessionShows = ({ lines }: Wire): void => {
  assert.include(lines, "← HTTP GET 200")
  assert.isTrue(lines.some((line) => /^← HTTP DELETE 20[04]$/.test(line)), "the session was not ended")
}

export const clientCell = (
  { connect, http, only, revision, sessions, sse = false, told, transport, ...rest }: ClientCell
): void => {
  let wire: Wire | undefined
  cell({
    ...rest,
    revision,
    transport,
    how: told === undefined ? "by itself" : "told",
    connect: async (running) => {
      wire = running.wire
      const target = transport === "stdio"
        ? await stdioTarget("mcpfxServer", running, only ? revision : undefined)
        : { transport, url: http.url(only ? `/${revision}${sse ? "/sse" : ""}` : sse ? "/sse" : "/mcp"), sse }
      return connect(target, told, running.wire)
    },
    pidOf: ({ pid }) => pid,
    close: async ({ close }) => {
      await close()
      if (sessions && transport === "http" && revision !== "2026-07-28" && wire !== undefined) sessionShows(wire)
    }
  })
}
