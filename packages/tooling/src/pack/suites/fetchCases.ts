/** The client over the run time's own fetch, against a server that listens. */
import { McpClient } from "@mcpfx/client"
import { Revisions } from "@mcpfx/schema"
import { Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import type { Case } from "./cases.ts"
import { clientCases } from "./clientCases.ts"
import type { Offers } from "./offers.ts"

/** The HTTP suite through a port, on each revision that has this transport. */
export const fetchCases = (url: string, waits?: Offers["waits"]): Array<Case> =>
  Revisions.all.filter(({ version }) => version !== "2024-11-05").flatMap(({ version }) =>
    clientCases(
      `fetch, ${version}`,
      Layer.provide(McpClient.layerHttp({ url, revisions: [version] }), FetchHttpClient.layer),
      waits
    )
  )
