/** Listening without the tasks extension, and how a subscription is named. */
import * as Schema from "effect/Schema"
import { isJsonObject, isRequestId, type JsonObject, RequestId } from "../JsonRpc.ts"
import * as MetaKey from "../MetaKey.ts"
import * as Subscription from "../Subscription.ts"
import { generated } from "./json.ts"

const { taskIds: _, ...fields } = Subscription.Filter.fields

export const coreFilter = Schema.Struct(fields)

const isSubscriptionMeta = (u: unknown): u is JsonObject => isJsonObject(u) && isRequestId(u[MetaKey.subscriptionId])

/** `_meta` of the result that ends a subscription (SUB-05). */
export const SubscriptionMeta = Schema.declare<JsonObject>(isSubscriptionMeta, {
  expected: "an object that names the subscription",
  toCodecArbitrary: generated<JsonObject>()(Schema.Struct({ [MetaKey.subscriptionId]: RequestId }))
})
