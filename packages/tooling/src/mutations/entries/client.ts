import type { Mutation } from "../mutation.ts"

/** What breaks the client: how it connects, lists and keeps. */
export const client: ReadonlyArray<Mutation> = [
  {
    ids: ["LIF-01", "LIF-02", "LIF-06"],
    file: "client/src/internal/handshake.ts",
    find: "      session.peer.notify(Methods.Initialized, {}),\n",
    replace: "      Effect.void,\n",
    tests: ["client/test/Connection.test.ts"]
  },
  {
    ids: ["LIF-02"],
    file: "client/src/internal/handshake.ts",
    find: "      protocolVersion: revision.version,\n      capabilities:",
    replace: "      protocolVersion: \"2024-11-05\",\n      capabilities:",
    tests: ["client/test/Connection.test.ts"]
  },
  {
    ids: ["VER-10"],
    file: "client/src/Negotiation.ts",
    find: "if (transport !== \"http\") return { _tag: \"Legacy\", certain: failure._tag !== \"RequestTimeout\" }",
    replace:
      "if (transport !== \"http\" && error?.code === Codes.methodNotFound) return { _tag: \"Legacy\", certain: true }",
    tests: ["client/test/Connection.test.ts"]
  },
  {
    ids: ["CAP-02"],
    file: "client/src/Connection.ts",
    find: "    declared,\n    declaredOn,",
    replace: "    declared: { ...declared, sampling: {} },\n    declaredOn,",
    tests: ["client/test/Connection.test.ts"]
  },
  {
    ids: ["PAG-01"],
    file: "client/src/Pages.ts",
    find: "      cursor = next.nextCursor\n",
    replace: "      cursor = next.nextCursor.trim()\n",
    tests: ["client/test/Pages.test.ts"]
  },
  {
    ids: ["CCH-10"],
    file: "client/src/Pages.ts",
    find: "        cursor = undefined\n",
    replace: "",
    tests: ["client/test/Pages.test.ts"]
  },
  {
    ids: ["CCH-10", "CCH-06"],
    file: "client/src/Pages.ts",
    find: "        items.clear()\n",
    replace: "",
    tests: ["client/test/Pages.test.ts"]
  },
  {
    ids: ["CCH-06"],
    file: "client/src/internal/wholeList.ts",
    find: "const hasMoved = () => changes[kind] !== since",
    replace: "const hasMoved = () => changes[kind] < since",
    tests: ["client/test/Pages.test.ts"]
  },
  {
    ids: ["PAG-03"],
    file: "client/src/internal/wholeList.ts",
    find: "isOutlived = live.generation !== generation &&",
    replace: "isOutlived = live.generation < generation &&",
    tests: ["client/test/Pages.test.ts"]
  },
  {
    ids: ["CCH-03"],
    file: "client/src/ResponseCache.ts",
    find: "`${caller.length}:${caller}${key}`",
    replace: "`${caller.length}:${caller}${key.length}`",
    tests: ["client/test/keptAnswers.test.ts"]
  },
  {
    ids: ["CCH-05"],
    file: "client/src/ResponseCache.ts",
    find: "`${caller.length}:${caller}${key}`",
    replace: "`${key}`",
    tests: ["client/test/keptAnswers.test.ts"]
  },
  {
    ids: ["STD-13"],
    file: "client/src/internal/listening.ts",
    find: "id !== undefined && Meta.subscriptionId(params) === id",
    replace: "id !== undefined",
    tests: ["client/test/Subscriptions.test.ts"]
  },
  {
    ids: ["CCH-04"],
    file: "client/src/ResponseCache.ts",
    find:
      "const carriesInput = (params: object): boolean => \"inputResponses\" in params || \"requestState\" in params",
    replace: "const carriesInput = (params: object): boolean => \"inputResponse\" in params",
    tests: ["client/test/ResponseCache.test.ts"]
  },
  {
    ids: ["XH-06"],
    file: "client/src/internal/lists.ts",
    find: "revision.era === \"modern\" && connection.transport === \"http\"",
    replace: "revision.era === \"legacy\" && connection.transport === \"http\"",
    tests: ["client/test/lists.test.ts"]
  },
  {
    ids: ["SUB-09"],
    file: "client/src/Subscriptions.ts",
    find: "const maxRetries = 10",
    replace: "const maxRetries = 0",
    tests: ["client/test/Subscriptions.test.ts"]
  },
  {
    ids: ["TOL-17"],
    file: "client/src/Descriptors.ts",
    find: "(annotations?.destructiveHint ?? true)",
    replace: "(annotations?.destructiveHint ?? false)",
    tests: ["client/test/calls.test.ts"]
  }
]
