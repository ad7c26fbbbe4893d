import type { Mutation } from "../mutation.ts"

/** What breaks streams that are resumed, at either end. */
export const resumption: ReadonlyArray<Mutation> = [
  {
    ids: ["HTTP-28"],
    file: "transport/src/internal/eventStreams.ts",
    find: "  return version !== undefined && version >= primes",
    replace: "  return version !== undefined && version > primes",
    tests: ["transport/test/Resumption.test.ts"]
  },
  {
    ids: ["HTTP-28"],
    file: "transport/src/internal/eventLog.ts",
    find: "        retry: Duration.toMillis(host.limits.reconnectAfter),\n",
    replace: "",
    tests: ["transport/test/Resumption.test.ts"]
  },
  {
    ids: ["HTTP-31"],
    file: "transport/src/internal/eventLog.ts",
    find: "export const idOf = (stream: string, seq: number): string => `${stream}.${seq}`",
    replace: "export const idOf = (stream: string, seq: number): string => `${stream.slice(0, 1)}.${seq}`",
    tests: ["transport/test/Resumption.test.ts"]
  },
  {
    ids: ["HTTP-33"],
    file: "transport/src/internal/eventLog.ts",
    find: "{ events: this.waiting.slice(), size: this.size }",
    replace: "{ events: [], size: 0 }",
    tests: ["transport/test/laws/Resumption.test.ts"]
  },
  {
    ids: ["HTTP-33"],
    file: "transport/src/internal/resumption.ts",
    find: "if (event.seq > after) all.set(event.seq, event)",
    replace: "if (event.seq >= after) all.set(event.seq, event)",
    tests: ["transport/test/laws/Resumption.test.ts"]
  },
  {
    ids: ["HTTP-33"],
    file: "transport/src/EventStore.ts",
    find: "`${sessionId} ${principalKey}`",
    replace: "principalKey",
    tests: ["transport/test/EventStore.test.ts"]
  },
  {
    ids: ["HTTP-26"],
    file: "transport/src/internal/respond.ts",
    find: "if (this.log === undefined) this.leaveSlots()",
    replace: "this.leaveSlots()",
    tests: ["transport/test/Resumption.test.ts"]
  },
  {
    ids: ["HTTP-27"],
    file: "transport/src/internal/respond.ts",
    find: "if (this.oneShot || this.options.resumable?.primed !== true) return false",
    replace: "if (this.oneShot || this.options.resumable === undefined) return false",
    tests: ["transport/test/Resumption.test.ts"]
  },
  {
    ids: ["HTTP-30"],
    file: "transport/src/internal/clientStreams.ts",
    find: "Duration.millis(Math.min(Math.max(retry, idle === 0 ? 0 : leastWait), longestWait))",
    replace: "Duration.millis(Math.min(retry, leastWait))",
    tests: ["transport/test/StreamableHttpSession.test.ts"]
  },
  {
    ids: ["HTTP-33"],
    file: "transport/src/internal/clientReply.ts",
    find: "      if (!seen.isNew(event)) return Effect.void\n",
    replace: "      seen.isNew(event)\n",
    tests: ["transport/test/ResumptionClient.test.ts"]
  }
]
