/** Which way the questions of a handler take. */
import { RequestContext } from "@mcpfx/session/RequestContext"
import * as Context from "effect/Context"
import { CurrentInteraction, type Interaction } from "./interaction.ts"
import { push } from "./push.ts"
import { Single } from "./single.ts"

/** That of a request: in rounds where its revision has them, else a request of its own. */
export const wayOf = (request: RequestContext["Service"]): Interaction =>
  (request instanceof Single ? request.inRounds() : undefined) ?? push(request)

/** The way in which the handler that runs in this context asks. */
export const interactionOf = (context: Context.Context<RequestContext>): Interaction =>
  Context.get(context, CurrentInteraction) ?? wayOf(Context.get(context, RequestContext))
