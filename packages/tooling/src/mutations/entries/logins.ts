import type { Mutation } from "../mutation.ts"

const listener = { file: "node/src/internal/callbackListener.ts", tests: ["node/test/callbackListener.test.ts"] }
const redirectUris = { file: "node/src/internal/redirectUris.ts", tests: ["node/test/loopbackLogin.test.ts"] }
const pasted = { file: "node/src/internal/pasted.ts", tests: ["node/test/pasteLogin.test.ts"] }

/** What breaks logins by people: whose answer is taken, where it is listened for, which pages are opened and how. */
export const logins: ReadonlyArray<Mutation> = [
  {
    ids: ["ACL-21"],
    file: "node/src/internal/callbackListener.ts",
    find: "if (state === undefined || more.length > 0) return undefined",
    replace: "if (state === undefined) return undefined",
    tests: ["node/test/loopbackLogin.test.ts"]
  },
  {
    ids: ["ACL-21"],
    file: "node/src/internal/callbackListener.ts",
    find: "if (timingSafeEqual(login.state, given) && login.path === url.pathname) found = login",
    replace: "if (login.path === url.pathname) found = login",
    tests: ["node/test/loopbackLogin.test.ts"]
  },
  {
    ids: ["ACL-22"],
    ...listener,
    find: "if (headers.host?.toLowerCase() !== origin.host) return { outcome: \"host\" }",
    replace: ""
  },
  {
    ids: ["ACL-22"],
    ...listener,
    find: "if (method !== \"GET\") return { outcome: \"method\" }",
    replace: ""
  },
  {
    ids: ["ACL-22"],
    ...listener,
    find: "if (!target.startsWith(\"/\") || target.startsWith(\"//\")) return { outcome: \"elsewhere\" }",
    replace: ""
  },
  {
    ids: ["ACL-22"],
    ...redirectUris,
    find: "const shape = /^http:",
    replace: "const shape = /^https?:"
  },
  {
    ids: ["ACL-21"],
    ...pasted,
    find: "if (!timingSafeEqual(digest(given), digest(state))) {",
    replace: "if (given === \"\") {"
  },
  {
    ids: ["ACL-21"],
    ...pasted,
    find: "url === undefined || url.origin !== redirect.origin || url.pathname !== redirect.pathname",
    replace: "url === undefined"
  },
  {
    ids: ["SEC-10"],
    file: "node/src/internal/visitable.ts",
    find: "(url.protocol === \"http:\" && OutboundGuard.classifyHost(url.hostname) === \"loopback\")",
    replace: "url.protocol === \"http:\"",
    tests: ["node/test/openers.test.ts"]
  },
  {
    ids: ["SEC-10"],
    file: "node/src/Browser.ts",
    find: "if (!isVisitable(url)) {",
    replace: "if (url.protocol === \"javascript:\") {",
    tests: ["node/test/openers.test.ts"]
  }
]
