import * as Messages from "../../messages.ts"
import { adding, inTurn } from "../adding.ts"
import { factsOf, hand, openSession, serve, verify } from "../endpoint.ts"
import { type Bench, inProcess, type Series } from "../series.ts"

const add = Messages.add("2025-11-25")

/** Calls over some of the sessions that are open, one after the other. */
const calling = async (open: number, used: number): Promise<Bench> => {
  const server = await serve(adding)
  const ids = Array.from({ length: open }, () => openSession(server))
  const facts = ids.slice(-used).map((id) => factsOf(id))
  for (const each of facts) verify(server, add.body(1), each, "\"text\":\"2\"")
  let id = 1
  return inTurn(server, facts, (one, sink) => hand(server, add.body(++id), one, sink))
}

const sizes = [1, 10, 100, 1000, 10_000]

export const sessionSeries: ReadonlyArray<Series> = [
  {
    id: "sessions",
    title: "a call, with so many sessions open",
    shape: "flat",
    effort: inProcess,
    sizes,
    make: (size) => calling(size, 1)
  },
  // As with tools in turn; `sessions-http` shows what is left of it beside the rest of what a call costs.
  {
    id: "sessions-all",
    title: "a call over each of so many sessions in turn",
    shape: "shown",
    effort: inProcess,
    sizes,
    make: (size) => calling(size, size)
  }
]
