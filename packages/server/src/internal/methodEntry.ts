/** Entries for messages that are not the protocol's own, with or without an extension that they belong to. */
import type * as CustomMethod from "@mcpfx/schema/CustomMethod"
import type * as Method from "@mcpfx/schema/Method"
import type * as Effect from "effect/Effect"
import type { AnnouncementEntry, ExtensionEntry, ListenerEntry, MethodEntry } from "../Entry.ts"
import type { MethodOptions } from "../ServerMethod.ts"
import type { Captured } from "./capture.ts"
import { type Enclosing, visibility } from "./enclosing.ts"
import { makeGate } from "./gate.ts"
import { running } from "./handling.ts"
import { answering, hearing } from "./methodCall.ts"

/** What a registration knows of where it stands. */
export interface Place<R> {
  readonly captured: Captured<R>
  readonly enclosing: Enclosing
  readonly extension: ExtensionEntry | undefined
  readonly options: MethodOptions
}

const facts = <R>(name: string, { enclosing, options }: Place<R>) => ({
  visible: visibility(enclosing, { kind: "method", name }, options.visible),
  asks: [],
  scopes: options.scopes ?? []
})

export const methodEntry = <Name extends string, Params, Result, R>(
  method: Method.RequestMethod<Name, Params, Result>,
  handler: (params: Params) => Effect.Effect<Result, unknown, R>,
  place: Place<R>
): MethodEntry => {
  const { captured, enclosing, extension, options } = place
  const gate = makeGate(method.name, options.concurrency, "method")
  return {
    kind: "method",
    name: method.name,
    extension,
    ...facts(method.name, place),
    on: answering(method, enclosing, (params) => gate(running(captured, handler(params))))
  }
}

export const announcementEntry = <R>(
  notification: CustomMethod.AnyNotification,
  place: Place<R>
): AnnouncementEntry => ({
  kind: "announcement",
  name: notification.name,
  extension: place.extension,
  filter: notification.filter,
  hasTopics: notification.topic !== undefined,
  existsOn: (revision) => notification.custom.on(revision) !== undefined,
  ...facts(notification.name, place)
})

export const listenerEntry = <Name extends string, Params, R>(
  method: Method.NotificationMethod<Name, Params>,
  handler: (params: Params) => Effect.Effect<unknown, unknown, R>,
  place: Place<R>
): ListenerEntry => ({
  kind: "notification",
  name: method.name,
  extension: place.extension,
  ...facts(method.name, place),
  on: hearing(method, (params) => running(place.captured, handler(params)))
})
