/** Endpoints that are reached over HTTP too. */
import * as McpError from "@mcpfx/schema/McpError"
import * as Sessions from "@mcpfx/session/Sessions"
import type { Endpoint } from "@mcpfx/transport/Endpoint"
import * as Guard from "@mcpfx/transport/Guard"
import * as McpHeaders from "@mcpfx/transport/McpHeaders"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { McpEndpoint } from "../McpEndpoint.ts"
import { Registry } from "../Registry.ts"
import { InvalidOptions } from "../ServerError.ts"
import { rejected } from "./admission.ts"
import { assemble, type Placed, type Provided } from "./assemble.ts"
import { isVisible } from "./entries.ts"
import type { Http } from "./http.ts"
import { HttpSessions } from "./httpSessions.ts"

/** What a client did not repeat in headers (XH-11). */
const refusal: Http["refusal"] = (entry, request, context) => {
  const { facts, revision } = context
  if (entry.kind !== "tool" || entry.headerParams.length === 0 || facts.headers === undefined) return undefined
  const fault = McpHeaders.checkParams(facts.headers, entry.headerParams, request.params?.["arguments"])
  if (fault === undefined || !isVisible(entry, context)) return undefined
  const detail = McpHeaders.describe(fault)
  return rejected(new McpError.HeaderMismatch({ header: fault.header, detail }), revision)
}

/**
 * States that a client brings back must be opened by whichever instance it comes to: a secret that each process makes for
 * itself is not enough where clients are elsewhere.
 */
const requireKeys: Http["requireKeys"] = (options, settings) =>
  Effect.gen(function*() {
    if (settings.newestModern === undefined || Guard.isLocal(options)) return
    const { prompts, resources, templates, tools } = (yield* Registry).snapshot()
    const asking = [...tools, ...prompts, ...resources, ...templates].find((entry) => entry.asks.length > 0)
    if (asking === undefined) return
    const name = "name" in asking ? asking.name : "uri" in asking ? asking.uri : asking.template
    const reason = `requestState.keys are missing: the ${asking.kind} "${name}" asks, and clients are on other machines`
    return yield* new InvalidOptions({ reason })
  })

const http: Http = { door: (gateway) => new HttpSessions(gateway), refusal, requireKeys }

/** An endpoint of its own, its sessions in a directory of somebody else's making. */
export const endpointIn = <A, E, R, E2, R2>(
  registrations: Layer.Layer<A, E, R>,
  options: Placed,
  directory: Layer.Layer<Sessions.Sessions, E2, R2>
): Layer.Layer<
  Endpoint | McpEndpoint,
  E | E2 | InvalidOptions,
  Exclude<R, Provided> | Exclude<Exclude<R2, Sessions.SessionFactory>, Provided>
> => assemble(registrations, options, directory, http)

/** An endpoint of its own. */
export const endpoint = <A, E, R>(
  registrations: Layer.Layer<A, E, R>,
  options: Placed
): Layer.Layer<Endpoint | McpEndpoint, E | InvalidOptions, Exclude<R, Provided>> =>
  endpointIn(registrations, options, Sessions.layerDefault)
