import type { Mutation } from "../mutation.ts"

const core = "server/test/tasks/core.test.ts"
const extension = "server/test/tasks/extension.test.ts"

/** What breaks tasks, of both dialects and both sides. */
export const tasks: ReadonlyArray<Mutation> = [
  {
    ids: ["TKL-01"],
    file: "server/src/Discover.ts",
    find: "requests: { tools: { call: {} } } }",
    replace: "requests: { tools: {} } }",
    tests: [core]
  },
  {
    ids: ["TKL-10"],
    file: "server/src/internal/taskDialect.ts",
    find: "facts.transport !== \"http\" || Option.isSome(facts.principal)",
    replace: "facts !== undefined",
    tests: [core]
  },
  {
    ids: ["TKL-10"],
    file: "server/src/internal/taskEngine.ts",
    find: "live === undefined || live.gone || live.record.principal !== principal ? undefined : live",
    replace: "live === undefined || live.gone ? undefined : live",
    tests: [core]
  },
  {
    ids: ["TKL-02"],
    file: "server/src/internal/taskEngine.ts",
    find: "Effect.andThen(Effect.yieldNow, handled),",
    replace: "handled,",
    tests: [core]
  },
  {
    ids: ["TKL-05"],
    file: "server/src/internal/taskRoutes.ts",
    find: "...(JsonRpc.isJsonObject(meta) ? meta : undefined), ...related(id) }",
    replace: "...(JsonRpc.isJsonObject(meta) ? meta : undefined) }",
    tests: [core]
  },
  {
    ids: ["TKL-06"],
    file: "server/src/internal/taskResult.ts",
    find: "meta: { ...options?.meta, ...related(id) }",
    replace: "meta: { ...options?.meta }",
    tests: [core]
  },
  {
    ids: ["TKL-08"],
    file: "server/src/internal/taskRoutes.ts",
    find: "        return changed\n",
    replace: "        return changed || record.status === \"cancelled\"\n",
    tests: [core]
  },
  {
    ids: ["TKL-03", "TKL-08"],
    file: "session/src/TaskState.ts",
    find: "  if (isTerminal(record)) return record\n",
    replace: "",
    tests: ["session/test/laws/taskState.test.ts"]
  },
  {
    ids: ["TKL-08", "TKX-07"],
    file: "session/src/TaskState.ts",
    find: "dialect === \"core\" && record.outcome?._tag === \"Result\"",
    replace: "record.outcome?._tag === \"Result\"",
    tests: ["session/test/laws/taskState.test.ts"]
  },
  {
    ids: ["TKL-09", "TOL-23"],
    file: "server/src/internal/taskCall.ts",
    find: "    if (policy.support === \"may\") return undefined\n",
    replace: "    if (policy.support !== undefined) return undefined\n",
    tests: [core]
  },
  {
    ids: ["PRG-07"],
    file: "server/src/internal/taskContext.ts",
    find: "dialect === \"core\" ? teller(live, reach) : silent",
    replace: "silent",
    tests: [core]
  },
  {
    ids: ["TKL-06"],
    file: "server/src/internal/taskResult.ts",
    find: "    asked.carrier = undefined\n    live.tick()\n  })",
    replace: "    live.tick()\n  })",
    tests: [core]
  },
  {
    ids: ["TKX-01"],
    file: "server/src/Dispatcher.ts",
    find: "Capabilities.hasExtension(capabilities, Task.extensionId) ? Revisions.withTasks(revision) : revision",
    replace: "capabilities === undefined ? revision : Revisions.withTasks(revision)",
    tests: [extension]
  },
  {
    ids: ["TKX-02"],
    file: "server/src/Dispatcher.ts",
    find: "          : undeclaredTasks()",
    replace: "          : new McpError.MethodNotFound({ method })",
    tests: [extension]
  },
  {
    ids: ["TKX-02"],
    file: "server/src/internal/admission.ts",
    find: "entry.kind === \"tool\" && entry.task?.support === \"must\" &&",
    replace: "entry.kind === \"prompt\" &&",
    tests: [extension]
  },
  {
    ids: ["TKX-04"],
    file: "server/src/internal/taskRoutes.ts",
    find: "...(outcome?._tag === \"Result\" && { result: resultOn(revision, record, outcome.result) }),",
    replace: "",
    tests: [extension]
  },
  {
    ids: ["TKX-05"],
    file: "server/src/internal/taskEngine.ts",
    find: "this.records.guarded(store.create(record, limits.tasks))",
    replace: "Effect.succeed(\"Created\")",
    tests: ["server/test/TaskStore.test.ts"]
  },
  {
    ids: ["TKX-08"],
    file: "server/src/internal/taskLive.ts",
    find: "      this.keys.add(key)\n      return key\n",
    replace: "      return `${key}-1`\n",
    tests: [extension]
  },
  {
    ids: ["TKX-09"],
    file: "server/src/internal/taskRoutes.ts",
    find: "    if (asked === undefined) continue\n",
    replace: "    if (asked === undefined) return Effect.fail(new McpError.InternalError())\n",
    tests: [extension]
  },
  {
    ids: ["TKX-10"],
    file: "server/src/internal/taskEngine.ts",
    find: "? Effect.fail(new McpError.TaskNotFound({ taskId: id }))",
    replace: "? Effect.fail(new McpError.InternalError())",
    tests: [extension]
  },
  {
    ids: ["TKX-13"],
    file: "server/src/internal/taskListen.ts",
    find: "...detailed(lane.revision, record), ...meta",
    replace: "...detailed(lane.revision, record)",
    tests: [extension]
  },
  {
    ids: ["TKX-15"],
    file: "server/src/Discover.ts",
    find: "tasks && revision.era === \"modern\" ?",
    replace: "tasks ?",
    tests: [core]
  },
  {
    ids: ["TKX-14"],
    file: "server/src/internal/taskEngine.ts",
    find: "Option.isNone(found) || found.value.principal !== principal ||",
    replace: "Option.isNone(found) ||",
    tests: [extension]
  },
  {
    ids: ["TKX-16"],
    file: "server/src/internal/taskDetach.ts",
    find: "return this.way ?? wayOf(this.start.request)",
    replace: "return wayOf(this.start.request)",
    tests: ["server/test/tasks/detach.test.ts"]
  },
  {
    ids: ["TKX-03"],
    file: "client/src/internal/calls.ts",
    find: "course.mayBeTask ? Effect.flatMap(waits.instead(task, options, course.token), read) : unasked",
    replace: "unasked",
    tests: ["client/test/Tasks.test.ts"]
  },
  {
    ids: ["TKX-12"],
    file: "client/src/internal/taskWait.ts",
    find: "asked.filter(([key]) => !given.has(key))",
    replace: "[]",
    tests: ["client/test/Tasks.test.ts"]
  },
  {
    ids: ["TKX-11"],
    file: "client/src/internal/taskWait.ts",
    find: "      Effect.matchEffect(requests.request(Methods.TasksCancel, { taskId: id }), {",
    replace: "      Effect.matchEffect(requests.request(Methods.TasksGet, { taskId: id }), {",
    tests: ["client/test/Tasks.test.ts"]
  },
  {
    ids: ["TOL-23"],
    file: "client/src/internal/callStart.ts",
    find: "    : call.support === \"must\"",
    replace: "    : call.support === undefined",
    tests: ["client/test/Tasks.test.ts"]
  },
  {
    ids: ["TKL-09"],
    file: "client/src/internal/taskReceiver.ts",
    find: "        : Effect.fail(new McpError.InvalidCursor({}))",
    replace: "        : written(context.revision, Methods.TasksList, { tasks })",
    tests: ["client/test/TaskReceiver.test.ts"]
  }
]
