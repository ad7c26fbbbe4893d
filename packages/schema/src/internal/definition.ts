/** A revision as a value that the next one is a difference on; its codecs are built when they are first asked for. */
import type * as Method from "../Method.ts"
import type { Features, NotificationCodec, RequestCodec, Revision, Sender, Version } from "../Revision.ts"
import { notificationCodec, type NotificationSpec, requestCodec, type RequestSpec } from "./codec.ts"
import type { Shapes } from "./shapes.ts"

export interface RequestEntry {
  readonly name: string
  readonly make: (shapes: Shapes, sender: Sender) => RequestCodec<unknown, unknown>
}

export interface NotificationEntry {
  readonly name: string
  readonly make: (shapes: Shapes, sender: Sender) => NotificationCodec<unknown>
}

/** How a request is built from the shapes of whichever revision has it. */
export const onRequest = <P, R>(
  method: Method.RequestMethod<string, P, R>,
  spec: (shapes: Shapes) => RequestSpec<P, R>
): RequestEntry => ({
  name: method.name,
  make: (shapes, sender) => requestCodec(method, sender, spec(shapes))
})

/** How a notification is built from the shapes of whichever revision has it. */
export const onNotification = <P>(
  method: Method.NotificationMethod<string, P>,
  spec: (shapes: Shapes) => NotificationSpec<P>
): NotificationEntry => ({
  name: method.name,
  make: (shapes, sender) => notificationCodec(method, sender, spec(shapes))
})

interface Row<Entry> {
  readonly entry: Entry
  readonly sender: Sender
}

type Rows<Entry> = ReadonlyMap<string, Row<Entry>>

export interface Definition {
  readonly version: Version
  readonly ordinal: number
  readonly era: "legacy" | "modern"
  readonly features: Features
  readonly shapes: () => Shapes
  readonly requests: Rows<RequestEntry>
  readonly notifications: Rows<NotificationEntry>
  readonly inputs: Rows<RequestEntry>
}

const once = <A>(make: () => A): () => A => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}

type Added<Entry> = ReadonlyArray<readonly [entry: Entry, sender: Sender]>

const rows = <Entry extends { readonly name: string }>(
  base: Rows<Entry>,
  added: Added<Entry>,
  gone: ReadonlySet<string>
) =>
  new Map([
    ...[...base].filter(([name]) => !gone.has(name)),
    ...added.map(([entry, sender]): [string, Row<Entry>] => [entry.name, { entry, sender }])
  ])

export interface Difference {
  readonly version?: Version
  readonly era?: "modern"
  readonly features?: Partial<Features>
  /** The shapes that change; every method that uses one changes with it. */
  readonly shapes: (base: Shapes) => Partial<Shapes>
  /** Methods that are new, or built in another way, or sent by someone else. */
  readonly requests?: Added<RequestEntry>
  readonly notifications?: Added<NotificationEntry>
  /** What is asked for in rounds. */
  readonly inputs?: Added<RequestEntry>
  /** Names of methods that are gone. */
  readonly remove?: ReadonlyArray<string>
}

/** The definition that differs from `base` in what is said. */
export const extend = (base: Definition, difference: Difference): Definition => {
  const gone = new Set(difference.remove ?? [])
  return {
    version: difference.version ?? base.version,
    ordinal: difference.version === undefined ? base.ordinal : base.ordinal + 1,
    era: difference.era ?? base.era,
    features: { ...base.features, ...difference.features },
    shapes: once(() => {
      const shapes = base.shapes()
      return { ...shapes, ...difference.shapes(shapes) }
    }),
    requests: rows(base.requests, difference.requests ?? [], gone),
    notifications: rows(base.notifications, difference.notifications ?? [], gone),
    inputs: rows(base.inputs, difference.inputs ?? [], new Set())
  }
}

/** The first definition. */
export const define = (first: {
  readonly version: Version
  readonly features: Features
  readonly shapes: () => Shapes
  readonly requests: Added<RequestEntry>
  readonly notifications: Added<NotificationEntry>
}): Definition => ({
  version: first.version,
  ordinal: 0,
  era: "legacy",
  features: first.features,
  shapes: once(first.shapes),
  requests: rows(new Map(), first.requests, new Set()),
  notifications: rows(new Map(), first.notifications, new Set()),
  inputs: new Map()
})

const senders = <Entry>(rows: Rows<Entry>): ReadonlyMap<string, Sender> =>
  new Map([...rows].map(([name, row]) => [name, row.sender]))

const lookup = <Entry, Codec>(rows: Rows<Entry>, make: (entry: Entry, sender: Sender) => Codec) => {
  const made = new Map<string, Codec>()
  return (name: string): Codec | undefined => {
    const known = made.get(name)
    if (known !== undefined) return known
    const row = rows.get(name)
    if (row === undefined) return undefined
    const codec = make(row.entry, row.sender)
    made.set(name, codec)
    return codec
  }
}

/** The revision that a definition describes. */
export const toRevision = (self: Definition): Revision => {
  const requestByName = lookup(self.requests, (entry, sender) => entry.make(self.shapes(), sender))
  const inputByName = lookup(self.inputs, (entry, sender) => entry.make(self.shapes(), sender))
  const notificationByName = lookup(self.notifications, (entry, sender) => entry.make(self.shapes(), sender))
  const revision: Revision = {
    version: self.version,
    ordinal: self.ordinal,
    era: self.era,
    features: self.features,
    requests: senders(self.requests),
    notifications: senders(self.notifications),
    inputs: new Set(self.inputs.keys()),
    // Names and types of methods belong together by construction (`onRequest`), which a map cannot say.
    request: <Name extends string, P, R>(method: Method.RequestMethod<Name, P, R>) =>
      (method.custom === undefined ? requestByName(method.name) : method.custom.on(revision)) as
        | RequestCodec<P, R>
        | undefined,
    input: <Name extends string, P, R>(method: Method.RequestMethod<Name, P, R>) =>
      inputByName(method.name) as RequestCodec<P, R> | undefined,
    notification: <Name extends string, P>(method: Method.NotificationMethod<Name, P>) =>
      (method.custom === undefined ? notificationByName(method.name) : method.custom.on(revision)) as
        | NotificationCodec<P>
        | undefined,
    requestByName,
    notificationByName
  }
  return revision
}
