import { Guard } from "@mcpfx/transport"
import { assert, describe, it } from "@effect/vitest"
