/** What peers are known to do wrong, each with the line that passes over the wire when they do. */
import { Schema } from "effect"
import { join } from "node:path"
import { readJson } from "../../../src/readJson.ts"
import { root } from "../../../src/root.ts"

const Fault = Schema.Struct({
  suite: Schema.String,
  check: Schema.String,
  revisions: Schema.Array(Schema.String),
  transports: Schema.Array(Schema.String),
  /** What the peer does wrong, and what it should do. */
  fault: Schema.String,
  /** Part of a line of the wire; `→` is what the client sent, `←` what the server did. */
  wire: Schema.String
})
export interface Fault extends Schema.Schema.Type<typeof Fault> {}

export const faults: ReadonlyArray<Fault> = readJson(
  join(root, "packages/tooling/data/interop-faults.json"),
  Schema.Array(Fault)
)

export interface Place {
  readonly suite: string
  readonly revision: string
  readonly transport: "stdio" | "http"
}

export const faultAt = ({ revision, suite, transport }: Place, check: string): Fault | undefined =>
  faults.find((fault) =>
    fault.suite === suite && fault.check === check && fault.revisions.includes(revision)
    && fault.transports.includes(transport)
  )
