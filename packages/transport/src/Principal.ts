/**
 * Who a request comes from.
 *
 * Whatever is bound to a principal (sessions, tasks, sealed state, event streams) is bound to issuer, subject and client,
 * never to the token or its scopes, which change while the caller stays the same.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/**
 * @category schemas
 * @since 0.1.0
 */
export const Principal = Schema.Struct({
  issuer: Schema.String,
  subject: Schema.String,
  clientId: Schema.optionalKey(Schema.String),
  scopes: Schema.Array(Schema.String),
  claims: Schema.Record(Schema.String, Schema.Unknown)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Principal extends Schema.Schema.Type<typeof Principal> {}

/**
 * The identity a session is bound to: equal keys are the same caller. Anonymous callers share the empty key.
 *
 * @category models
 * @since 0.1.0
 */
export const key = (principal: Option.Option<Principal>): string =>
  Option.isNone(principal)
    ? ""
    : JSON.stringify([principal.value.issuer, principal.value.subject, principal.value.clientId ?? null])

/**
 * The caller of the request being served; `None` where nothing authenticates.
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentPrincipal = Context.Reference<Option.Option<Principal>>("@mcpfx/transport/CurrentPrincipal", {
  defaultValue: () => Option.none()
})
