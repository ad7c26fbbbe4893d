import { type Scopes, union } from "./scopeChoice.ts"

/** The scopes that logins to come ask for, besides those of the program: what is known of them from calls and earlier logins. */
export class WantedScopes {
  private asked: { readonly issuer: string; readonly scopes: Scopes } | undefined = undefined
  private challenged: Scopes = []
  private missing: Scopes | undefined = undefined

  /** What the last challenge that named scopes named, and what calls lacked. */
  get open(): Scopes {
    return union(this.challenged, this.missing)
  }

  /** What calls lacked, and nobody has been asked for. */
  get lacking(): Scopes | undefined {
    return this.missing
  }

  /** What was ever asked for at an issuer, granted or not (ACL-28). */
  askedAt(issuer: string): Scopes | undefined {
    return this.asked?.issuer === issuer ? this.asked.scopes : undefined
  }

  ask(issuer: string, scopes: Scopes): void {
    this.asked = { issuer, scopes: union(this.askedAt(issuer), scopes) }
  }

  challenge(scopes: Scopes): void {
    if (scopes.length > 0) this.challenged = scopes
  }

  lack(scopes: Scopes): void {
    this.missing = union(this.missing, scopes)
  }

  /** There are new tokens: nothing is known to be lacking. */
  met(): void {
    this.missing = undefined
  }

  /** Who logs in next may be somebody else, who is not asked for all this; or there are none such. */
  forget(): void {
    this.asked = undefined
    this.challenged = []
    this.missing = undefined
  }
}
