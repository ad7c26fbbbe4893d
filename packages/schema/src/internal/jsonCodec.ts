/**
 * The JSON codec of a schema, narrowed to what is shown of it.
 *
 * Effect's canonical JSON form writes the numbers JSON lacks as strings, which would show every `Schema.Number` as a choice
 * between a number and three words; what a schema says of itself on its decoded side is lost where it is transformed; and
 * patterns are enforced without being shown. So numbers are held to be finite, titles and descriptions are carried to the
 * encoded side, and patterns are shown.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

/** What is carried from a decoded node to its encoded one: what speaks to readers and holds for both. */
const carriedKeys = ["title", "description", "format", "x-mcp-header"] as const

interface Bag {
  readonly [key: string]: unknown
}

/** The annotations of a node: those of its last check, if it has checks. */
const ownAnnotations = (ast: SchemaAST.AST): Bag | undefined => ast.checks?.at(-1)?.annotations ?? ast.annotations

const pick = (from: Bag | undefined, without: Bag | undefined): Bag | undefined => {
  const entries = carriedKeys.flatMap((key) =>
    from?.[key] !== undefined && without?.[key] === undefined ? [[key, from[key]] as const] : []
  )
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/** A copy that keeps the prototype; nodes are immutable and have no hidden state that a copy would need. */
const copy = <A extends SchemaAST.AST>(ast: A, changes: Partial<A>): A =>
  Object.assign(Object.create(Object.getPrototypeOf(ast)), ast, changes)

const annotate = (ast: SchemaAST.AST, extra: Bag): SchemaAST.AST => Schema.make<Schema.Top>(ast).annotate(extra).ast

const annotateKey = (ast: SchemaAST.AST, extra: Bag): SchemaAST.AST => {
  const context = ast.context
  return copy(ast, {
    context: new SchemaAST.Context(
      context?.isOptional ?? false,
      context?.isMutable ?? false,
      context?.constructorDefault,
      { ...context?.annotations, ...extra }
    )
  })
}

const carry = (from: SchemaAST.AST, to: SchemaAST.AST): SchemaAST.AST => {
  const own = pick(ownAnnotations(from), ownAnnotations(to))
  // a suspended node cannot be annotated without being forced
  const annotated = own === undefined || to._tag === "Suspend" ? to : annotate(to, own)
  const key = pick(from.context?.annotations, annotated.context?.annotations)
  return key === undefined ? annotated : annotateKey(annotated, key)
}

const isFinite = Schema.isFinite()

const isNumberOrWord = (link: SchemaAST.Link): boolean =>
  SchemaAST.isUnion(link.to) && link.to.types.some(SchemaAST.isNumber) &&
  link.to.types.some((type) => type._tag === "Union" || (type._tag === "Literal" && type.literal === "NaN"))

const finite = (ast: SchemaAST.Number): SchemaAST.AST =>
  new SchemaAST.Number(ast.annotations, [isFinite, ...(ast.checks ?? [])], undefined, ast.context)

const hasKeys = (u: unknown): u is Bag => typeof u === "object" && u !== null

/** The source of a check that a JSON Schema `pattern` can say as well: those are read with the `u` flag and no other. */
const shownPattern = (annotations: Bag | undefined): string | undefined => {
  const representation = annotations?.["representation"]
  if (!hasKeys(representation) || representation["id"] !== "effect/schema/isPattern") return undefined
  const payload = representation["payload"]
  if (!hasKeys(payload) || (payload["flags"] !== "" && payload["flags"] !== "u")) return undefined
  const { source } = payload
  return typeof source === "string" && Result.isSuccess(Result.try(() => new RegExp(source, "u"))) ? source : undefined
}

const showPattern = <T>(check: SchemaAST.Check<T>): SchemaAST.Check<T> => {
  const pattern = shownPattern(check.annotations)
  return pattern === undefined ? check : check.annotate({ toJsonSchema: () => ({ pattern }) })
}

const showPatterns = (ast: SchemaAST.String): SchemaAST.AST => {
  if (ast.checks === undefined || !ast.checks.some(({ annotations }) => shownPattern(annotations) !== undefined)) {
    return ast
  }
  const [first, ...rest] = ast.checks
  return copy(ast, { checks: [showPattern(first), ...rest.map(showPattern)] })
}

const same = <A>(before: ReadonlyArray<A>, after: ReadonlyArray<A>): boolean =>
  before.every((one, index) => one === after[index])

const narrowMembers = (ast: SchemaAST.AST): SchemaAST.AST => {
  switch (ast._tag) {
    case "Objects": {
      const properties = ast.propertySignatures.map((one) => {
        const type = narrow(one.type)
        return type === one.type ? one : new SchemaAST.PropertySignature(one.name, type)
      })
      const indexes = ast.indexSignatures.map((one) => {
        const type = narrow(one.type)
        return type === one.type ? one : new SchemaAST.IndexSignature(one.parameter, type)
      })
      return same(ast.propertySignatures, properties) && same(ast.indexSignatures, indexes)
        ? ast
        : copy(ast, { propertySignatures: properties, indexSignatures: indexes })
    }
    case "Arrays": {
      const elements = ast.elements.map(narrow)
      const rest = ast.rest.map(narrow)
      return same(ast.elements, elements) && same(ast.rest, rest) ? ast : copy(ast, { elements, rest })
    }
    case "Union": {
      const types = ast.types.map(narrow)
      return same(ast.types, types)
        ? ast
        : new SchemaAST.Union(
          types,
          ast.options,
          ast.annotations,
          ast.checks,
          ast.encoding,
          ast.context,
          ast.encodingChecks
        )
    }
    case "Suspend":
      return new SchemaAST.Suspend(() => narrow(ast.thunk()), ast.annotations, ast.checks, ast.encoding, ast.context)
    case "String":
      return showPatterns(ast)
    default:
      return ast
  }
}

const narrowNode = (ast: SchemaAST.AST): SchemaAST.AST => {
  const last = ast.encoding?.at(-1)
  if (ast.encoding === undefined || last === undefined) return narrowMembers(ast)
  if (SchemaAST.isNumber(ast) && ast.encoding.length === 1 && isNumberOrWord(last)) return finite(ast)
  const to = carry(ast, narrow(last.to))
  if (to === last.to) return ast
  const [first, ...others] = ast.encoding
  const link = new SchemaAST.Link(to, last.transformation)
  const encoding: SchemaAST.Encoding = others.length === 0 ? [link] : [first, ...others.slice(0, -1), link]
  return copy(ast, { encoding })
}

const narrowed = new WeakMap<SchemaAST.AST, SchemaAST.AST>()

/** Once a node, so that recursive schemas end and stay recursive. */
const narrow = (ast: SchemaAST.AST): SchemaAST.AST => {
  const known = narrowed.get(ast)
  if (known !== undefined) return known
  const out = narrowNode(ast)
  narrowed.set(ast, out)
  // what is narrow stays as it is
  narrowed.set(out, out)
  return out
}

/** The narrowed codec; the same schema gives the same syntax tree every time. */
export const jsonCodec = <T, RD, RE>(
  schema: Schema.ConstraintCodec<T, unknown, RD, RE>
): Schema.Codec<T, Schema.Json, RD, RE> => Schema.make(narrow(Schema.toCodecJson(schema).ast))
