/** What a grant works on: a request whose client and proof of possession are known to be good. */
import type { Parameters } from "./incoming.ts"
import type { Client } from "./model.ts"
import type { State } from "./state.ts"

export interface GrantRequest {
  readonly state: State
  readonly client: Client
  /** The thumbprint of the key that tokens are to be bound to. */
  readonly jkt: string | undefined
  readonly parameters: Parameters
}
