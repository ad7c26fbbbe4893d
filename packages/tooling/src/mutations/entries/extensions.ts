import type { Mutation } from "../mutation.ts"

const apps = "server/test/ServerApps.test.ts"
const shapesOfApps = "schema/test/Apps.test.ts"
const skills = "server/test/ServerSkills.test.ts"
const shapesOfSkills = "schema/test/Skills.test.ts"
const readSkills = "client/test/ClientSkills.test.ts"

/** What breaks extensions, and the two that bring pages and skills. */
export const extensions: ReadonlyArray<Mutation> = [
  {
    ids: ["EXT-04"],
    file: "server/src/internal/admission.ts",
    find: "if (extension === undefined || extension.spokenBy(context.clientCapabilities)) return undefined",
    replace: "if (extension === undefined || extension.name !== \"\") return undefined",
    tests: ["server/test/ServerExtension.test.ts"]
  },
  {
    ids: ["EXT-04"],
    file: "client/src/internal/extensions.ts",
    find: "return owner === undefined || speaks(owner, server)",
    replace: "return owner === undefined || owner.existsOn(server.revision)",
    tests: ["server/test/ServerExtension.test.ts"]
  },
  {
    ids: ["EXT-04"],
    file: "client/src/internal/extensions.ts",
    find: "(said === undefined || !speaks(known.extension, said))",
    replace: "said === undefined",
    tests: ["client/test/ClientExtension.test.ts"]
  },
  {
    ids: ["APP-01"],
    file: "schema/src/Apps.ts",
    find: "page: uri?.startsWith(scheme) === true ? uri : undefined,",
    replace: "page: uri,",
    tests: [shapesOfApps]
  },
  {
    ids: ["APP-01"],
    file: "server/src/ServerApps.ts",
    find: "    mimeType: Apps.mimeType,\n",
    replace: "    mimeType: \"text/html\",\n",
    tests: [apps]
  },
  {
    ids: ["APP-02"],
    file: "client/src/ClientApps.ts",
    find: "settings: { mimeTypes: [Apps.mimeType] }",
    replace: "settings: { mimeTypes: [] }",
    tests: [apps]
  },
  {
    ids: ["APP-02"],
    file: "schema/src/Apps.ts",
    find: "Option.isSome(settings) && settings.value.mimeTypes.some(isPageType)",
    replace: "Option.isSome(settings)",
    tests: [shapesOfApps]
  },
  {
    ids: ["APP-03"],
    file: "schema/src/Apps.ts",
    find: "(declared ?? []).filter((one) => origin.test(one))",
    replace: "(declared ?? [])",
    tests: [shapesOfApps]
  },
  {
    ids: ["APP-03"],
    file: "schema/src/Apps.ts",
    find: "return all.length === 0 ? \"'none'\" : all.join(\" \")",
    replace: "return all.length === 0 ? \"*\" : all.join(\" \")",
    tests: [shapesOfApps]
  },
  {
    ids: ["APP-04"],
    file: "schema/src/Apps.ts",
    find: "meta === undefined && own !== undefined ? [] : meta?.visibility ?? [\"model\", \"app\"]",
    replace: "meta?.visibility ?? [\"model\", \"app\"]",
    tests: [shapesOfApps]
  },
  {
    ids: ["APP-04"],
    file: "server/src/ServerApps.ts",
    find: "visibility === undefined || visibility.includes(\"model\") ? visible : forPages(visible)",
    replace: "visible",
    tests: [apps]
  },
  {
    ids: ["APP-04"],
    file: "client/src/ClientApps.ts",
    find: "if (tool === undefined || !Apps.ofTool(tool).forApp) return",
    replace: "if (tool === undefined) return",
    tests: [apps]
  },
  {
    ids: ["APP-06"],
    file: "server/src/internal/toolCall.ts",
    find: "content.length === 0 ? [textBlock(JSON.stringify(structuredContent))] : content",
    replace: "content.length === 0 ? [textBlock(\"\")] : content",
    tests: [apps]
  },
  {
    ids: ["SKL-01"],
    file: "server/src/ServerSkills.ts",
    find: "return Layer.mergeAll(extension, ...files)",
    replace: "return files.length === 0 ? Layer.empty : extension",
    tests: [skills]
  },
  {
    ids: ["SKL-01"],
    file: "server/src/ServerSkills.ts",
    find: "ServerExtension.layer(reads ? Skills.Extension : withoutDirectories, {",
    replace: "ServerExtension.layer(Skills.Extension, {",
    tests: [skills]
  },
  {
    ids: ["SKL-02"],
    file: "server/src/ServerSkills.ts",
    find: "const skill = byUri.get(uri)\n",
    replace: "const skill = byUri.get(uri) ?? sorted[0]\n",
    tests: [skills]
  },
  {
    ids: ["SKL-02"],
    file: "server/src/internal/skillFiles.ts",
    find: "resources: listed.length < made.length ? \"dynamic\" : listed",
    replace: "resources: listed",
    tests: [skills]
  },
  {
    ids: ["SKL-02"],
    file: "schema/src/Skills.ts",
    find: "if (!uris.has(entry.uri)) return",
    replace: "if (uris.size === 0) return",
    tests: [shapesOfSkills]
  },
  {
    ids: ["SKL-03"],
    file: "client/src/ClientSkills.ts",
    find: "return listed.digest === `sha256:${hex}` ? file",
    replace: "return listed.digest.length === `sha256:${hex}`.length ? file",
    tests: [readSkills]
  },
  {
    ids: ["SKL-03"],
    file: "client/src/ClientSkills.ts",
    find: "if (listed.size !== file.bytes.length) return",
    replace: "if (listed.size > file.bytes.length) return",
    tests: [readSkills]
  },
  {
    ids: ["SKL-03"],
    file: "client/src/ClientSkills.ts",
    find: " && isEqual(own.success, skill.frontmatter)",
    replace: "",
    tests: [readSkills]
  },
  {
    ids: ["SKL-03"],
    file: "client/src/ClientSkills.ts",
    find: "  if (!isOwn) return yield* new SkillUnverified({ uri, reason: \"unlisted\" })\n",
    replace: "",
    tests: [readSkills]
  }
]
