/**
 * What a server has to be in, as plain data: no fiber, no clock, no message. `moves.ts` changes it; the tables and streams of
 * the real server are compared with it after each move.
 */
import { Flow, Pipe } from "./flow.ts"

export interface Setup {
  readonly transport: "http" | "memory"
  /** Whether streams can be resumed. */
  readonly events: boolean
}

export interface Session {
  readonly ref: string
  readonly principal: string
  readonly version: string
  /** The connection it is bound to. */
  readonly connection: Flow | undefined
  over: boolean
  /** Whether it is in the process, or only in the store. */
  loaded: boolean
  /** Whether `initialize` was answered. */
  agreed: boolean
  /** Whether `notifications/initialized` has come. */
  ready: boolean
  /** Whether the store has last heard of it before the clock jumped. */
  stale: boolean
  /** Open streams, the newest last. */
  readonly streams: Array<Flow>
  subscribed: boolean
  /** Changes that wait for a stream. */
  readonly waiting: Set<string>
}

export interface Call {
  readonly id: number
  readonly key: string
  readonly kind: "handler" | "listen" | "result"
  readonly flow: Flow
  /** `undefined` for requests that stand alone. */
  readonly session: Session | undefined
  readonly connection: Flow | undefined
  /** Whether a handler of the bench runs for it. */
  readonly handler: boolean
  readonly task: Task | undefined
  /** Whether it waits for the answer to its question. */
  asks: boolean
}

export interface Task {
  /** The request it came from. */
  readonly id: number
  readonly principal: string
  readonly key: string
  status: "working" | "completed" | "failed" | "cancelled"
}

/** A round that waits for its retry. */
export interface Round {
  readonly id: number
  readonly principal: string
  readonly key: string
}

/** A request that becomes an event stream when it is silent for so long. */
const streamAfter = 1000

/** What Model shows of the tables of the server. */
export interface Tables {
  readonly status: "serving" | "draining"
  readonly sessions: number
  readonly inFlight: number
  readonly listening: number
  readonly serving: number
  readonly waiting: number
  readonly streams: number
  readonly timers: number
  readonly running: ReadonlyArray<string>
}

export class Model {
  readonly setup: Setup
  readonly pipes: Array<Pipe> = []
  readonly sessions: Array<Session> = []
  readonly connections: Array<Flow> = []
  readonly flows: Array<Flow> = []
  /** Requests that run. */
  readonly calls = new Set<Call>()
  readonly tasks: Array<Task> = []
  readonly rounds: Array<Round> = []
  /** Everything that was asked, and in which session. */
  readonly asked: Array<readonly [session: Session, key: string]> = []
  draining = false
  now = 0
  private last = 0

  constructor(setup: Setup) {
    this.setup = setup
  }

  get http(): boolean {
    return this.setup.transport === "http"
  }

  id(): number {
    return ++this.last
  }

  pipe(what: string): Pipe {
    const pipe = new Pipe(`${what} ${this.pipes.length}`)
    this.pipes.push(pipe)
    return pipe
  }

  /** The server's end of a new connection of the client. */
  flow(pipe: Pipe, streamed = false): Flow {
    const flow = new Flow(pipe, this.now, streamed)
    this.flows.push(flow)
    return flow
  }

  /** Whether a client can come back to the stream of a request. */
  keeps(call: Pick<Call, "session">): boolean {
    return this.setup.events && call.session !== undefined
  }

  /** The request has something to say before its answer. */
  stream(call: Call): void {
    if (call.flow.streamed) return
    call.flow.streamed = true
    if (call.flow.reader !== undefined) call.flow.kept = this.keeps(call)
  }

  /** The request is over, with or without an answer. */
  settle(call: Call, answer: string | undefined): void {
    if (!this.calls.delete(call)) return
    if (answer !== undefined) call.flow.say(`${call.id}${answer}`)
    if (this.http) call.flow.end()
  }

  /** The client takes it back, or its time is over: it is not answered. */
  cancel(call: Call): void {
    if (call.asks) call.flow.say(`cancelled ${call.key}`)
    this.settle(call, undefined)
  }

  endTask(task: Task, status: Task["status"], answer: string): void {
    if (task.status !== "working") return
    task.status = status
    for (const call of this.callsOf((call) => call.kind === "result" && call.task === task)) this.settle(call, answer)
  }

  callsOf(wanted: (call: Call) => boolean): ReadonlyArray<Call> {
    return Array.from(this.calls).filter(wanted)
  }

  /** Everything of it ends; a client hears no more than that. */
  endSession(session: Session, over: boolean): void {
    if (over) session.over = true
    session.loaded = false
    for (const call of this.callsOf((call) => call.session === session)) {
      this.settle(call, undefined)
    }
    for (const flow of session.streams.splice(0)) flow.end()
    session.waiting.clear()
    if (over) {
      for (const flow of this.flows) {
        if (this.ownerOf(flow) === session) flow.lost = Number.POSITIVE_INFINITY
      }
    }
  }

  private readonly owners = new Map<Flow, Session>()

  own(flow: Flow, session: Session): void {
    this.owners.set(flow, session)
  }

  ownerOf(flow: Flow): Session | undefined {
    return this.owners.get(flow)
  }

  /** A stream of the session has lost its reader. */
  detach(session: Session, flow: Flow): void {
    const index = session.streams.indexOf(flow)
    if (index >= 0) session.streams.splice(index, 1)
  }

  /** Tells the session what it listens for, on its newest stream, or once there is one. */
  tell(session: Session, what: string): void {
    const stream = session.connection ?? session.streams.at(-1)
    if (stream === undefined) session.waiting.add(what)
    else stream.say(what)
  }

  /** Time passes; nothing else happens. */
  advance(millis: number): void {
    this.now += millis
    for (const call of this.calls) if (this.now >= call.flow.since + streamAfter) this.stream(call)
  }

  tables(): Tables {
    const loaded = this.sessions.filter((session) => session.loaded)
    const ofSessions = this.callsOf(({ session }) => session !== undefined)
    const asking = ofSessions.filter(({ asks }) => asks)
    const handlers = this.callsOf(({ handler }) => handler).map(({ key }) => key)
    const jobs = this.tasks.filter(({ status }) => status === "working").map(({ key }) => key)
    return {
      status: this.draining ? "draining" : "serving",
      sessions: loaded.length,
      inFlight: this.calls.size,
      listening: this.callsOf(({ kind }) => kind === "listen").length,
      serving: ofSessions.length,
      waiting: asking.length,
      streams: loaded.reduce((sum, { streams }) => sum + streams.length, 0),
      timers: new Set(asking.map(({ session }) => session)).size,
      running: [...handlers, ...jobs].sort()
    }
  }
}
