/**
 * What a handler may ask of the client while it runs.
 *
 * @since 0.1.0
 */

/**
 * An ask a contract declares, so that a call is refused before its handler starts when the client cannot answer: a form, a
 * URL to visit, a model's completion with or without tools, the client's roots.
 *
 * @category models
 * @since 0.1.0
 */
export type Ask = "elicit" | "elicitUrl" | "sample" | "sampleTools" | "roots"
