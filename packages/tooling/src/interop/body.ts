import type { IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"

/** The whole body of a request. */
export const bodyOf = (request: IncomingMessage): Promise<string> => text(request)
