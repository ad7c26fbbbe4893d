/** What a client costs itself, with the floor's server at the other end. */
import { allBut, type Budgets, cpuRow, noBudgets, type Row, times } from "../row.ts"
import { clientSubject } from "../subjects/client.ts"

const takingPart = allBut({ mcpfxNode: "is a listener, not a client", fastmcp: "has no client" })

const row = (transport: "stdio" | "http", window: number, budgets: Budgets): Row =>
  cpuRow({
    id: `client-${transport}-${window}`,
    title: `client over ${transport === "http" ? "HTTP" : transport}, ${
      window === 1 ? "one at a time" : `${window} at a time`
    }`,
    ...takingPart,
    budgets,
    make: (contender) => clientSubject(contender, { transport, window })
  })

export const clientRows: ReadonlyArray<Row> = [
  row("stdio", 1, noBudgets),
  row("stdio", 16, times(2)),
  row("http", 1, noBudgets),
  row("http", 16, times(2))
]
