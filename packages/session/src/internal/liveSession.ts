/** The face of a session. */
import * as Deferred from "effect/Deferred"
import type * as Peer from "../Peer.ts"
import type { Session } from "../Session.ts"
import type { Actor } from "./actor.ts"

/**
 * What others see of an actor. Its functions may be passed on by themselves; the peer is made when it is first asked for,
 * since most sessions of a server never send anything.
 */
export class LiveSession implements Session {
  readonly id: string
  readonly role: "server" | "client"
  readonly principalKey: string
  readonly accept: Session["accept"]
  readonly attach: Session["attach"]
  readonly establish: Session["establish"]
  readonly agreed: Session["agreed"]
  readonly logLevel: Session["logLevel"]
  readonly subscriptions: Session["subscriptions"]
  readonly close: Session["close"]
  readonly drain: Session["drain"]
  readonly closed: Session["closed"]
  readonly busy: Session["busy"]
  readonly load: Session["load"]
  private readonly actor: Actor

  constructor(actor: Actor) {
    const { id, principalKey, role } = actor.options
    this.actor = actor
    this.id = id
    this.role = role
    this.principalKey = principalKey ?? ""
    this.accept = (exchange) => actor.accept(exchange)
    this.attach = (link) => actor.attach(link)
    this.establish = (established) => actor.terms.establish(established)
    this.agreed = () => actor.terms.agreed
    this.logLevel = () => actor.terms.level
    this.subscriptions = () => actor.terms.subscriptions
    this.close = (reason) => actor.close(reason)
    this.drain = (deadline) => actor.drain(deadline)
    this.closed = Deferred.await(actor.over)
    this.busy = () => actor.busy
    this.load = () => actor.load()
  }

  get peer(): Peer.Peer {
    return this.actor.peer
  }
}
