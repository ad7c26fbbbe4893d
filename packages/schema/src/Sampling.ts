/**
 * Asking the client's model.
 *
 * Deprecated on 2026-07-28, where it is asked for by an input request only.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Role } from "./Annotations.ts"
import * as Content from "./Content.ts"
import { meta, requestMeta } from "./internal/fields.ts"
import { JsonObject, JsonValue, open, Unit } from "./internal/json.ts"
import * as Task from "./Task.ts"
import * as Tool from "./Tool.ts"

/**
 * The model wants a tool called, from 2025-11-25 on.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolUse = Schema.Struct({
  type: Schema.Literal("tool_use"),
  id: Schema.String,
  name: Schema.String,
  input: JsonObject,
  ...meta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface ToolUse extends Schema.Schema.Type<typeof ToolUse> {}

/**
 * What the tool gave, from 2025-11-25 on (SMP-05).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolResult = Schema.Struct({
  type: Schema.Literal("tool_result"),
  toolUseId: Schema.String,
  content: Schema.Array(Content.Content),
  structuredContent: Schema.optionalKey(JsonValue),
  isError: Schema.optionalKey(Schema.Boolean),
  ...meta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface ToolResult extends Schema.Schema.Type<typeof ToolResult> {}

/**
 * One block of a sampling message.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Block = Schema.Union([Content.Text, Content.Image, Content.Audio, ToolUse, ToolResult])

/**
 * @category models
 * @since 0.1.0
 */
export type Block = typeof Block.Type

const Blocks = Schema.Union([Block, Schema.Array(Block)])

/**
 * A turn of the conversation; several blocks in one turn exist from 2025-11-25 on (SMP-07).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Message = Schema.Struct({ role: Role, content: Blocks, ...meta })

/**
 * @category models
 * @since 0.1.0
 */
export interface Message extends Schema.Schema.Type<typeof Message> {}

const isBlocks = (content: Block | ReadonlyArray<Block>): content is ReadonlyArray<Block> => Array.isArray(content)

/**
 * The blocks of a turn as an array, however many there are.
 *
 * @category getters
 * @since 0.1.0
 */
export const blocks = (message: { readonly content: Block | ReadonlyArray<Block> }): ReadonlyArray<Block> =>
  isBlocks(message.content) ? message.content : [message.content]

/**
 * The texts of a turn as one; blocks of other kinds are passed over.
 *
 * @category getters
 * @since 0.1.0
 */
export const text = (message: { readonly content: Block | ReadonlyArray<Block> }): string =>
  blocks(message).map((block) => block.type === "text" ? block.text : "").join("")

/**
 * Which model is wanted; hints are looked at in order (SMP-03).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ModelPreferences = Schema.Struct({
  hints: Schema.optionalKey(Schema.Array(Schema.Struct({ name: Schema.optionalKey(Schema.String) }))),
  costPriority: Schema.optionalKey(Unit),
  speedPriority: Schema.optionalKey(Unit),
  intelligencePriority: Schema.optionalKey(Unit)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface ModelPreferences extends Schema.Schema.Type<typeof ModelPreferences> {}

/**
 * Whether tools may, must or must not be used; `auto` when left out.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolChoice = Schema.Struct({ mode: Schema.optionalKey(Schema.Literals(["auto", "required", "none"])) })

/**
 * @category models
 * @since 0.1.0
 */
export interface ToolChoice extends Schema.Schema.Type<typeof ToolChoice> {}

/**
 * The params of `sampling/createMessage`. `tools` and `toolChoice` exist from 2025-11-25 on and need the capability
 * `sampling.tools` (SMP-04).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CreateParams = Schema.Struct({
  messages: Schema.Array(Message),
  modelPreferences: Schema.optionalKey(ModelPreferences),
  systemPrompt: Schema.optionalKey(Schema.String),
  includeContext: Schema.optionalKey(Schema.Literals(["none", "thisServer", "allServers"])),
  temperature: Schema.optionalKey(Schema.Finite),
  maxTokens: Schema.Int,
  stopSequences: Schema.optionalKey(Schema.Array(Schema.String)),
  metadata: Schema.optionalKey(JsonObject),
  tools: Schema.optionalKey(Schema.Array(Tool.Descriptor)),
  toolChoice: Schema.optionalKey(ToolChoice),
  task: Schema.optionalKey(Task.Augmentation),
  ...requestMeta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface CreateParams extends Schema.Schema.Type<typeof CreateParams> {}

/**
 * What the model said. `stopReason` is open: `endTurn`, `stopSequence`, `maxTokens` and `toolUse` are the usual ones.
 *
 * @category schemas
 * @since 0.1.0
 */
export const CreateResult = open({
  role: Role,
  content: Blocks,
  model: Schema.String,
  stopReason: Schema.optionalKey(Schema.String),
  ...meta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface CreateResult extends Schema.Schema.Type<typeof CreateResult> {}
