interface Named {
  readonly name: string
}

/**
 * Splits the arguments of the test run into the stages that are meant and what goes to the test runner. Names are given
 * as `--only types,lint`; a name that no stage has is an error, as is a choice of none.
 */
export const chooseStages = <A extends Named>(
  stages: ReadonlyArray<A>,
  args: ReadonlyArray<string>
): { readonly chosen: ReadonlyArray<A>; readonly args: ReadonlyArray<string> } => {
  const at = args.indexOf("--only")
  if (at === -1) return { chosen: stages, args }
  const wanted = (args[at + 1] ?? "").split(",")
  const known = new Set(stages.map((stage) => stage.name))
  const unknown = wanted.filter((name) => !known.has(name))
  if (unknown.length > 0) {
    throw new Error(`--only takes names of stages (${[...known].join(", ")}), not "${unknown.join(",")}"`)
  }
  return {
    chosen: stages.filter((stage) => wanted.includes(stage.name)),
    args: args.filter((_, index) => index !== at && index !== at + 1)
  }
}
