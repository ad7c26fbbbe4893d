import * as Context from "effect/Context"
import * as HttpClient from "effect/http/HttpClient"
import * as Tracer from "effect/Tracer"

type AnyContext = Context.Context<never>

const always = (): boolean => true

/** Whether somebody gets to see the spans that are made here, or named one to belong to. */
const isSeen = (context: AnyContext): boolean => {
  if (Context.getOrUndefined(context, Tracer.ParentSpan) !== undefined) return true
  const tracer = Context.getOrUndefined(context, Tracer.Tracer)
  return tracer !== undefined && tracer !== Tracer.nativeTracer
}

/**
 * Where nobody sees a span of an HTTP request, the client makes none: it would cost more than all else that is done here, and
 * tell the server of a trace that does not exist.
 */
export const onlyWhereSeen = (context: AnyContext): AnyContext =>
  isSeen(context) ? context : Context.add(context, HttpClient.TracerDisabledWhen, always)
