/** Large messages, to and from a server in a process of its own: here the whole way of the bytes counts. */
import type * as Messages from "../../messages.ts"
import type { Subject } from "../../subject.ts"
import { httpSubject } from "../../subjects/http.ts"
import { stdioSubject } from "../../subjects/stdio.ts"
import { acrossProcesses, type Bench, type Series } from "../series.ts"

const KiB = 1024

/** Up to just below what a server takes over HTTP: 4 MiB with all that is around the text. */
const sizes = [1, 16, 64, 256, 1024, 4095].map((size) => size * KiB)

type Open = (template: Messages.Template) => Promise<Subject>

/** One server for all sizes: that they are alike is what is to be shown. */
const sharing = (open: Open): Series["make"] => {
  let text = ""
  let users = 0
  let opening: Promise<Subject> | undefined
  const template: Messages.Template = {
    version: "2025-11-25",
    method: "tools/call",
    abilities: "none",
    body: (id) =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":{"text":"${text}"}}}`
  }
  return async (size): Promise<Bench> => {
    users++
    const subject = await (opening ??= open(template))
    const own = "x".repeat(size)
    text = own
    await subject.verify(1)
    return {
      run: async (times) => {
        text = own
        await subject.run(times)
      },
      cpu: () => subject.cpu() * 1000,
      stop: async () => {
        if (--users === 0) await subject.stop()
      }
    }
  }
}

interface Way {
  readonly id: string
  readonly title: string
  readonly open: (server: "mcpfx" | "floor", template: Messages.Template) => Promise<Subject>
}

const ways: ReadonlyArray<Way> = [
  {
    id: "bytes-stdio",
    title: "an echo of so many bytes, stdio",
    open: (server, template) => stdioSubject(server, { template, window: 1 })
  },
  {
    id: "bytes-http",
    title: "an echo of so many bytes, HTTP",
    open: (server, template) => httpSubject(server, { template, connections: 1 })
  }
]

/**
 * Above some size the engine and the system take more for each byte, of the bare server as well: from 64 to 256 KiB its cost
 * grows many times as much as the size. So what is shown is that nothing is added to that.
 */
export const messageSeries: ReadonlyArray<Series> = ways.map(({ id, open, title }) => ({
  id,
  title,
  shape: "as the floor",
  effort: acrossProcesses,
  sizes,
  make: sharing((template) => open("mcpfx", template)),
  beside: sharing((template) => open("floor", template))
}))
