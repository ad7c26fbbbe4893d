/**
 * The pieces that the profile looks at by themselves and that packages keep to themselves. This is the one file that may
 * reach in; who renames one of them finds out here.
 */
export { make as protect } from "../../../auth/src/ResourceServer.ts"
export { layerStatic } from "../../../auth/src/TokenVerifier.ts"
export { named } from "../../../server/src/internal/entries.ts"
export { make as settingsOf } from "../../../server/src/internal/settings.ts"
export { type Client, Single } from "../../../server/src/internal/single.ts"
export { type Host, LiveContext } from "../../../session/src/internal/context.ts"
export { readBody } from "../../../transport/src/internal/body.ts"
export { plain as plainEvents } from "../../../transport/src/internal/events.ts"
export { factsOf, unreadableId, withEra } from "../../../transport/src/internal/facts.ts"
export { Budget } from "../../../transport/src/internal/gather.ts"
export { parseBytes, parseJson } from "../../../transport/src/internal/json.ts"
export { KeepAlive } from "../../../transport/src/internal/keepAlive.ts"
export * as media from "../../../transport/src/internal/media.ts"
export { WatchedOutbox } from "../../../transport/src/internal/outbox.ts"
export { RequestOutlet, type Sink } from "../../../transport/src/internal/outlets.ts"
export { Reply, type ReplyOptions } from "../../../transport/src/internal/respond.ts"
export * as Wire from "../../../transport/src/internal/wire.ts"
