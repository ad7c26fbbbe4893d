/** An answer that is not the right one. */
export class Wrong {
  readonly _tag = "Wrong"
  readonly what: string
  constructor(what: string) {
    this.what = what
  }
}
