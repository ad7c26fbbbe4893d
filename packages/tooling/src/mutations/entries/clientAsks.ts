import type { Mutation } from "../mutation.ts"

const rounds = ["client/test/InputDriver.test.ts"]

/** What breaks a client that is asked. */
export const clientAsks: ReadonlyArray<Mutation> = [
  {
    ids: ["CAP-02"],
    file: "client/src/ClientElicitation.ts",
    find: "capability: { elicitation: { form: {} } }",
    replace: "capability: {}",
    tests: ["client/test/ClientElicitation.test.ts"]
  },
  {
    ids: ["CAP-05"],
    file: "client/src/ClientElicitation.ts",
    find: "capability: { elicitation: { url: {} } }",
    replace: "capability: { elicitation: {} }",
    tests: ["client/test/ClientElicitation.test.ts"]
  },
  {
    ids: ["ELI-03"],
    file: "client/src/ClientHandlers.ts",
    find: "isUrl ? \"elicitation.url\" : \"elicitation.form\"",
    replace: "\"elicitation.form\"",
    tests: ["client/test/ClientElicitation.test.ts"]
  },
  {
    ids: ["ELI-08"],
    file: "client/src/TerminalForm.ts",
    find: "    if (then === \"send\") return",
    replace: "    if (then !== \"decline\") return",
    tests: ["client/test/TerminalForm.test.ts"]
  },
  {
    ids: ["ELI-14"],
    file: "client/src/ElicitedUrl.ts",
    find: "    userinfo: username !== \"\" || password !== \"\",\n",
    replace: "    userinfo: false,\n",
    tests: ["client/test/ElicitedUrl.test.ts"]
  },
  {
    ids: ["SEC-10"],
    file: "client/src/ElicitedUrl.ts",
    find: "if (protocol !== \"https:\" && protocol !== \"http:\") return",
    replace: "if (protocol === \"javascript:\") return",
    tests: ["client/test/ElicitedUrl.test.ts"]
  },
  {
    ids: ["MRT-11", "MRT-12", "MRT-13"],
    file: "client/src/InputDriver.ts",
    find: "...(requestState === undefined ? undefined : { requestState })",
    replace: "...(requestState === undefined ? undefined : { requestState: requestState.trim() })",
    tests: rounds
  },
  {
    ids: ["MRT-11"],
    file: "client/src/InputDriver.ts",
    find: "Math.min(100 * 2 ** (times - 2), 5000)",
    replace: "0",
    tests: ["client/test/Rounds.test.ts"]
  },
  {
    ids: ["MRT-12"],
    file: "client/src/InputDriver.ts",
    find: "      requestState = outcome.requestState\n",
    replace: "      requestState = outcome.requestState ?? requestState\n",
    tests: rounds
  },
  {
    ids: ["MRT-04"],
    file: "schema/src/internal/readers.ts",
    find: "Object.values(asks).includes(null) ? undefined : round.read(wire)",
    replace: "Object.values(asks).includes(1) ? undefined : round.read(wire)",
    tests: rounds
  },
  {
    ids: ["MRT-03"],
    file: "schema/src/internal/readers.ts",
    find: "result.inputRequests === undefined && result.requestState === undefined ? undefined : result",
    replace: "result",
    tests: ["schema/test/results.test.ts"]
  },
  {
    ids: ["MRT-14"],
    file: "client/src/InputDriver.ts",
    find: `  const follow = Effect.fnUntraced(function*<A extends { readonly resultType?: unknown }>(
    method: string,
    first: InputRequired,
    send: (retry: Retry) => Effect.Effect<A | InputRequired, McpClientError>
  ): Effect.fn.Return<A, McpClientError> {
    let { inputRequests, requestState } = first
`,
    replace: `  let { inputRequests, requestState }: Partial<InputRequired> = {}
  const follow = Effect.fnUntraced(function*<A extends { readonly resultType?: unknown }>(
    method: string,
    first: InputRequired,
    send: (retry: Retry) => Effect.Effect<A | InputRequired, McpClientError>
  ): Effect.fn.Return<A, McpClientError> {
    inputRequests = first.inputRequests
    requestState = first.requestState
`,
    tests: rounds
  },
  {
    ids: ["MRT-05"],
    file: "client/src/internal/inputAnswers.ts",
    find: "if (required !== undefined) return",
    replace: "if (required === declared) return",
    tests: rounds
  },
  {
    ids: ["CCH-04"],
    file: "client/src/internal/reads.ts",
    find: ": requests.request(Methods.ResourcesRead, { uri, ...retry }, options)",
    replace:
      ": requests.cached(table, reading, { uri }, (live, merged) => live.session.peer.request(Methods.ResourcesRead, { uri, ...retry }, merged), options)",
    tests: rounds
  },
  {
    ids: ["SMP-03"],
    file: "client/src/ClientSampling.ts",
    find: "model.toLowerCase().includes(name.toLowerCase())",
    replace: "model.toLowerCase() === name.toLowerCase()",
    tests: ["client/test/ModelSampling.test.ts"]
  },
  {
    ids: ["SMP-04"],
    file: "client/src/ClientHandlers.ts",
    find: "(params.tools !== undefined || params.toolChoice !== undefined)",
    replace: "params.tools !== undefined",
    tests: ["client/test/ClientSampling.test.ts"]
  },
  {
    ids: ["SMP-02"],
    file: "client/src/ModelSampling.ts",
    find: "options.configure(generate(params, names), settings)",
    replace: "generate(params, names)",
    tests: ["client/test/ModelSampling.test.ts"]
  },
  {
    ids: ["ROO-01"],
    file: "client/src/ClientRoots.ts",
    find: "parsed?.protocol === \"file:\" && uri.startsWith(\"file://\")",
    replace: "parsed !== undefined",
    tests: ["client/test/ClientRoots.test.ts"]
  },
  {
    ids: ["ROO-02"],
    file: "client/src/ClientRoots.ts",
    find: "Stream.drop(SubscriptionRef.changes(roots), 1)",
    replace: "Stream.drop(SubscriptionRef.changes(roots), 2)",
    tests: ["client/test/ClientRoots.test.ts"]
  },
  {
    ids: ["ROO-04"],
    file: "client/src/ClientRoots.ts",
    find: "Effect.flatMap(run(list, facts), checked)",
    replace: "Effect.flatMap(run(Effect.succeed([]), facts), checked)",
    tests: ["client/test/ClientRoots.test.ts"]
  },
  {
    ids: ["LIF-14"],
    file: "session/src/internal/calls.ts",
    find: "if (now < call.latest && this.owner.isAsked) return this.prolong(call, now)\n",
    replace: "",
    tests: ["client/test/AskDeadlines.test.ts"]
  },
  {
    ids: ["ELI-18"],
    file: "client/src/internal/pageVisits.ts",
    find: "    open.delete(elicitationId)\n    if (open.size === 0)",
    replace: "    open.delete(elicitationId)\n    if (open.size < 3)",
    tests: ["client/test/PageVisits.test.ts"]
  }
]
