/** The skills that the conformance suite looks for: it finds them by itself. */
import { ServerSkills } from "@mcpfx/server"
import { Effect } from "effect"

const GitWorkflow = ServerSkills.skill("git-workflow", {
  "SKILL.md":
    "---\nname: git-workflow\ndescription: How branches and commits are made here\n---\n\nSee `references/`.\n",
  "references/branches.md": "# Branches\n\nOne a change.\n"
})

const Refunds = ServerSkills.skill("acme/billing/refunds", {
  "SKILL.md":
    "---\nname: refunds\ndescription: Pays money back\nlicense: MIT\nmetadata:\n  version: \"2.1\"\n---\n\n# Refunds\n",
  "examples/email.md": "Dear customer,\n"
})

/** All of them. */
export const layer = ServerSkills.layer(Effect.all([GitWorkflow, Refunds]), {
  cache: { ttlMs: 300_000, scope: "public" }
})
