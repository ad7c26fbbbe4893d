/** All that a program says of itself: lines of its log and spans of its trace, as texts that can be searched. */
import { Layer, Logger, References, Tracer } from "effect"
import { inspect } from "node:util"

/** Everything of a value that any of the usual ways to print it would show. */
export const everything = (value: unknown): string => {
  const texts = [inspect(value, { depth: 8, showHidden: true, maxStringLength: null, maxArrayLength: null })]
  try {
    texts.push(JSON.stringify(value, (_, inner: unknown) => typeof inner === "bigint" ? String(inner) : inner) ?? "")
  } catch {
    // Not everything is JSON: what it holds is in the other texts.
  }
  texts.push(String(value))
  if (value instanceof Error) texts.push(value.message, value.stack ?? "")
  return texts.join("\n")
}

export class Recorder {
  readonly lines: Array<string> = []
  private readonly started: Array<Tracer.NativeSpan> = []

  /** The messages alone, as a person reads them. */
  readonly messages: Array<string> = []

  get spans(): ReadonlyArray<string> {
    // Without what a span is a part of and runs in: the trace that is sent has neither.
    return this.started.map(({ attributes, events, kind, links, name, status }) =>
      everything({
        name,
        kind,
        attributes: [...attributes],
        events,
        links: links.map((link) => Object.entries(link.attributes)),
        status
      })
    )
  }

  /** Forgets what was said so far. */
  clear(): void {
    for (const list of [this.lines, this.messages, this.started]) list.length = 0
  }

  /** What is said at each level, and each span. */
  get texts(): ReadonlyArray<string> {
    return [...this.lines, ...this.spans]
  }

  readonly layer: Layer.Layer<never> = Layer.mergeAll(
    Logger.layer([
      Logger.make(({ cause, fiber, message }) => {
        this.messages.push([message].flat().map(String).join(" "))
        this.lines.push(everything([message, cause, fiber.getRef(References.CurrentLogAnnotations)]))
      })
    ]),
    Layer.succeed(References.MinimumLogLevel, "Trace"),
    Layer.succeed(
      Tracer.Tracer,
      Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          this.started.push(span)
          return span
        }
      })
    )
  )
}
