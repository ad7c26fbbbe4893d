import { timingSafeEqual } from "effect/crypto/Mac"

const encoder = new TextEncoder()

/** Whether two texts are the same; how long it takes says nothing of where they differ. */
export const sameText = (a: string, b: string): boolean => timingSafeEqual(encoder.encode(a), encoder.encode(b))
