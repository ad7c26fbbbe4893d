/**
 * Resources: what is listed, what is read, and what is announced about them.
 *
 * @since 0.1.0
 */
export * from "./internal/resourceShapes.ts"
export * from "./ResourceContract.ts"
