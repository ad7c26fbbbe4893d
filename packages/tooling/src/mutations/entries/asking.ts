import type { Mutation } from "../mutation.ts"

/** What breaks asking: who is asked what, and which states and answers are taken. */
export const asking: ReadonlyArray<Mutation> = [
  {
    ids: ["MRT-07", "SEC-07"],
    file: "server/src/internal/asks.ts",
    find: "if (state.principal !== Principal.key(single.facts.principal)) return foreign",
    replace: "",
    tests: ["server/test/RoundState.test.ts"]
  },
  {
    ids: ["MRT-06", "MRT-07"],
    file: "server/src/internal/asks.ts",
    find: "if (state.request !== Identity.ofRequest(request)) return foreign",
    replace: "",
    tests: ["server/test/RoundState.test.ts"]
  },
  {
    ids: ["ELI-16"],
    file: "transport/src/Principal.ts",
    find: "[principal.value.issuer, principal.value.subject, principal.value.clientId ?? null]",
    replace: "[principal.value.issuer, principal.value.subject]",
    tests: ["server/test/RoundState.test.ts"]
  },
  {
    ids: ["ELI-21"],
    file: "server/src/internal/asks.ts",
    find: "if (state.principal !== Principal.key(single.facts.principal)) return foreign",
    replace:
      "if (single.sessionId !== undefined && state.principal !== Principal.key(single.facts.principal)) return foreign",
    tests: ["server/test/RoundState.test.ts"]
  },
  {
    ids: ["STA-05"],
    file: "server/src/internal/asks.ts",
    find: "        inputRequests,\n        requestState,\n",
    replace: "        inputRequests,\n",
    tests: ["server/test/RoundState.test.ts"]
  },
  {
    ids: ["MRT-09"],
    file: "session/src/InFlight.ts",
    find: "const closing = scope === undefined ? undefined : Scope.closeUnsafe(scope, exit)",
    replace:
      "const closing = scope === undefined || instead !== undefined ? undefined : Scope.closeUnsafe(scope, exit)",
    tests: ["server/test/RoundState.test.ts"]
  },
  {
    ids: ["MRT-01"],
    file: "server/src/internal/single.ts",
    find: "return self.asks === undefined || !mayAsk(self.method) ? undefined",
    replace: "return self.asks === undefined || mayAsk(self.method) ? undefined",
    tests: ["server/test/Rounds.test.ts"]
  },
  {
    ids: ["MRT-03"],
    file: "server/src/internal/asks.ts",
    find: "        inputRequests,\n        requestState,\n",
    replace: "",
    tests: ["server/test/Rounds.test.ts"]
  },
  {
    ids: ["ELI-12"],
    file: "server/src/internal/pages.ts",
    find: "return protocol === \"https:\" || protocol === \"http:\"",
    replace: "return protocol !== undefined",
    tests: ["server/test/Input.test.ts"]
  },
  {
    ids: ["MRT-07"],
    file: "server/src/internal/asks.ts",
    find: "if (state.expires <= now) return expired",
    replace: "",
    tests: ["server/test/RoundState.test.ts"]
  },
  {
    ids: ["MRT-06"],
    file: "server/src/internal/base64Url.ts",
    find: "return seen < none && left === 0 ? bytes : undefined",
    replace: "return seen < none ? bytes : undefined",
    tests: ["server/test/laws/RequestState.test.ts"]
  },
  {
    ids: ["MRT-06"],
    file: "server/src/internal/assemble.ts",
    find: "      yield* checkedKeys(options, settings, http)\n",
    replace: "",
    tests: ["server/test/RoundState.test.ts"]
  },
  {
    ids: ["MRT-10"],
    file: "server/src/internal/asks.ts",
    find: "if (answers.has(key) || !Object.hasOwn(responses, key)) continue",
    replace: "if (answers.has(key)) continue",
    tests: ["server/test/RoundIdentity.test.ts"]
  },
  {
    ids: ["ELI-02", "MRT-05", "META-13", "SMP-04"],
    file: "server/src/internal/push.ts",
    find: "question.asks.find((ask) => !Capabilities.covers(capabilities, ask))",
    replace: "question.asks.find((ask) => Capabilities.covers(capabilities, ask) && false)",
    tests: ["server/test/Input.test.ts"]
  },
  {
    ids: ["SMP-04"],
    file: "server/src/Input.ts",
    find: "? [\"sampling\"] : [\"sampling\", \"sampling.tools\"]",
    replace: "? [\"sampling\"] : [\"sampling\"]",
    tests: ["server/test/Input.test.ts"]
  },
  {
    ids: ["SMP-05"],
    file: "server/src/Input.ts",
    find: "if (problem !== undefined) return Effect.die(new TurnsMismatch({ detail: problem }))",
    replace: "",
    tests: ["server/test/Input.test.ts"]
  },
  {
    ids: ["ELI-10"],
    file: "server/src/Input.ts",
    find: "return Effect.fail(new Declined({ ask }))",
    replace: "return Effect.fail(new Cancelled({ ask }))",
    tests: ["server/test/Input.test.ts"]
  },
  {
    ids: ["ELI-18"],
    file: "server/src/internal/pages.ts",
    find: "(request.announce ?? request.notify)",
    replace: "request.notify",
    tests: ["server/test/Input.test.ts"]
  },
  {
    ids: ["CCH-04", "CCH-12"],
    file: "server/src/internal/entryRoutes.ts",
    find: "if (entry.cache === undefined || context.round > 1) return stale",
    replace: "if (entry.cache === undefined) return stale",
    tests: ["server/test/Input.test.ts"]
  },
  {
    ids: ["PRG-02", "LOG-04"],
    file: "server/src/internal/single.ts",
    find: "    this.quiet = true\n",
    replace: "",
    tests: ["server/test/RoundIdentity.test.ts"]
  },
  {
    ids: ["ELI-06"],
    file: "schema/src/internal/formFields.ts",
    find: ": { type: \"string\", ...rest, oneOf: pairs(values, titles) }",
    replace: ": { type: \"string\", ...rest, enum: values }",
    tests: ["schema/test/FormContract.test.ts"]
  }
]
