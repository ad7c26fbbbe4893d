/** Which capabilities each revision knows: the others are left out. */
import { isJsonObject } from "../JsonRpc.ts"
import type { Version } from "../Revision.ts"
import { compose, member, omit, type Project, same } from "./project.ts"

const plainSampling = member("sampling", omit("context", "tools"))
const neither = compose(omit("elicitation", "tasks"), plainSampling)

/** On 2025-06-18 there are only forms: a client that shows only pages cannot be asked anything (CAP-05). */
const forms: Project = (capabilities) => {
  const elicitation = capabilities["elicitation"]
  if (!isJsonObject(elicitation)) return capabilities
  return elicitation["url"] !== undefined && elicitation["form"] === undefined
    ? omit("elicitation")(capabilities)
    : member("elicitation", omit("form", "url"))(capabilities)
}

export const client: Readonly<Record<Version, Project>> = {
  "2024-11-05": neither,
  "2025-03-26": neither,
  "2025-06-18": compose(omit("tasks"), plainSampling, forms),
  "2025-11-25": same,
  "2026-07-28": compose(omit("tasks"), member("roots", omit("listChanged")))
}

export const server: Readonly<Record<Version, Project>> = {
  "2024-11-05": omit("completions", "tasks"),
  "2025-03-26": omit("tasks"),
  "2025-06-18": omit("tasks"),
  "2025-11-25": same,
  "2026-07-28": omit("tasks")
}
