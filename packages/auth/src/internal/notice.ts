/** A line of the log that anybody can cause by a request. */
import * as Effect from "effect/Effect"

/** Says it as a warning once and at level Debug from then on, so that nobody can fill the log. */
export class Notice {
  private said = false

  say(text: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.said) return Effect.logDebug(text)
      this.said = true
      return Effect.logWarning(text)
    })
  }
}
