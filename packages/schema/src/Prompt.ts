/**
 * Prompts: what is listed, what is asked for, and the messages that come back.
 *
 * @since 0.1.0
 */
export * from "./internal/promptShapes.ts"
export * from "./PromptContract.ts"
