/** The face of a session. */
import type * as Peer from "../Peer.ts"
import type { Session } from "../Session.ts"
import type { Actor } from "./actor.ts"

/**
 * What others see of an actor. Its functions may be passed on by themselves. They are made as they are asked for, as is the
 * peer: there may be thousands of sessions, most of which wait.
 */
export class LiveSession implements Session {
  private readonly actor: Actor

  constructor(actor: Actor) {
    this.actor = actor
  }

  get id(): string {
    return this.actor.options.id
  }

  get role(): "server" | "client" {
    return this.actor.role
  }

  get principalKey(): string {
    return this.actor.options.principalKey ?? ""
  }

  get peer(): Peer.Peer {
    return this.actor.peer
  }

  get accept(): Session["accept"] {
    const { actor } = this
    return (exchange) => actor.accept(exchange)
  }

  get attach(): Session["attach"] {
    const { actor } = this
    return (link) => actor.attach(link)
  }

  get establish(): Session["establish"] {
    const { actor } = this
    return (established) => actor.terms.establish(established)
  }

  get agreed(): Session["agreed"] {
    const { actor } = this
    return () => actor.terms.agreed
  }

  get logLevel(): Session["logLevel"] {
    const { actor } = this
    return () => actor.terms.level
  }

  get subscriptions(): Session["subscriptions"] {
    const { actor } = this
    return () => actor.terms.subscriptions
  }

  get close(): Session["close"] {
    const { actor } = this
    return (reason) => actor.close(reason)
  }

  get drain(): Session["drain"] {
    const { actor } = this
    return (deadline) => actor.drain(deadline)
  }

  get closed(): Session["closed"] {
    return this.actor.closed
  }

  get busy(): Session["busy"] {
    const { actor } = this
    return () => actor.busy
  }

  get load(): Session["load"] {
    const { actor } = this
    return () => actor.load()
  }
}
