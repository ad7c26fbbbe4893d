/**
 * What listed things say about themselves, read as the protocol says.
 *
 * @since 0.1.0
 */
import type * as Tool from "@mcpfx/schema/Tool"

interface Named {
  readonly name: string
  readonly title?: string | undefined
  readonly annotations?: object | undefined
}

/**
 * How to show a tool, resource, template or prompt to a person: its title, else the title among the annotations of a tool,
 * else its name (TOL-19). Titles are for display, never for decisions.
 *
 * **Example** (A tool of an older server)
 *
 * ```ts
 * import { Descriptors } from "@mcpfx/client"
 *
 * Descriptors.displayName({ name: "rm", annotations: { title: "Delete files" } }) // => "Delete files"
 * Descriptors.displayName({ name: "rm", title: "Remove", annotations: { title: "Delete files" } }) // => "Remove"
 * Descriptors.displayName({ name: "rm" }) // => "rm"
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const displayName = ({ annotations, name, title }: Named): string => {
  if (title !== undefined && title !== "") return title
  const annotated = annotations !== undefined && "title" in annotations ? annotations.title : undefined
  return typeof annotated === "string" && annotated !== "" ? annotated : name
}

/**
 * What a tool says about its effects.
 *
 * @category models
 * @since 0.1.0
 */
export interface Hints {
  readonly readOnly: boolean
  /** Never of a tool that only reads. */
  readonly destructive: boolean
  /** Always of a tool that only reads. */
  readonly idempotent: boolean
  readonly openWorld: boolean
}

/**
 * The hints of a tool; what it does not say counts as the worse case: it writes, destroys, may not be repeated and reaches
 * the open world (TOL-17). They are claims: of a server that is not trusted they decide nothing.
 *
 * @category getters
 * @since 0.1.0
 */
export const hints = ({ annotations }: Pick<Tool.Descriptor, "annotations">): Hints => {
  const readOnly = annotations?.readOnlyHint ?? false
  return {
    readOnly,
    destructive: !readOnly && (annotations?.destructiveHint ?? true),
    idempotent: readOnly || (annotations?.idempotentHint ?? false),
    openWorld: annotations?.openWorldHint ?? true
  }
}
