/** Every part that a server may need. */
import * as Layer from "effect/Layer"
import * as ForeignSchemas from "../ForeignSchemas.ts"
import * as Tasks from "../Tasks.ts"

export const allParts: Layer.Layer<never> = Layer.merge(ForeignSchemas.layer, Tasks.layer)
