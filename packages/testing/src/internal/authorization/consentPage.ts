/** The pages that people see: who asks for what, and whether they agree (SEC-02, AAS-04). */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Answer } from "./answer.ts"
import { at } from "./paths.ts"
import type { Asked, State } from "./state.ts"

const entities: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ["\"", "&quot;"],
  ["'", "&#39;"]
])

export const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => entities.get(character) ?? "")

/** The origin of an address, or its scheme where it has none. */
const originOf = (uri: string): string => {
  const { origin, protocol } = new URL(uri)
  return origin === "null" ? protocol : origin
}

/** The same for a content security policy, which knows no IPv6 addresses. */
const sourceOf = (uri: string): string => new URL(uri).hostname.startsWith("[") ? new URL(uri).protocol : originOf(uri)

/** `to` is where the form may lead in the end: browsers hold redirects of forms against the policy too. */
const headers = (to?: string): Record<string, string> => ({
  "cache-control": "no-store",
  "content-security-policy": [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `form-action 'self'${to === undefined ? "" : ` ${sourceOf(to)}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'"
  ].join("; "),
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin"
})

const style = "body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:3rem auto;padding:0 1rem}" +
  "dt{font-weight:600}dd{margin:0 0 .75rem}button{font:inherit;padding:.4rem 1.2rem;margin-right:.5rem}"

export const page = (
  title: string,
  body: string,
  to?: string,
  extra: Record<string, string> = {},
  status = 200
): Answer =>
  Answer.Page({
    status,
    headers: { ...headers(to), ...extra },
    html: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escape(title)}</title>
<style>${style}</style>
<h1>${escape(title)}</h1>
${body}
</html>
`
  })

export const errorPage = (description: string, status: number): Answer =>
  page("This login cannot go on", `<p role="alert">${escape(description)}</p>`, undefined, {}, status)

export const noUser = (id: string | undefined): string => `There is no user ${id ?? ""} here.`

/** Buttons, and who answers, where there is a choice. */
export const decisionFields = (state: State): string => {
  const users = state.users.map(({ id }) => `<option>${escape(id)}</option>`).join("")
  const choice = state.users.length > 1 ? `<p><label>Log in as <select name="user">${users}</select></label></p>` : ""
  return `${choice}
<p><button name="decision" value="allow">Allow</button><button name="decision" value="deny">Deny</button></p>`
}

const list = (items: ReadonlyArray<string>): string =>
  items.length === 0 ? "nothing in particular" : items.map((item) => `<code>${escape(item)}</code>`).join(", ")

/** The cookie that binds a page to the browser it was shown in; the strict form needs https. */
export const cookieName = (state: State): string =>
  state.issuer.startsWith("https:") ? "__Host-consent" : "test-consent"

const cookie = (state: State, value: string): string =>
  `${cookieName(state)}=${value}; Path=/; HttpOnly; SameSite=Strict${
    state.issuer.startsWith("https:") ? "; Secure" : ""
  }`

/** The value of a cookie in a header. */
export const cookieOf = (header: string | undefined, name: string): string | undefined =>
  header?.split(";").map((part) => part.trim()).find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1)

const cookiePattern = /^[A-Za-z0-9_-]{43}$/

/** Remembers what is asked, and asks it. */
export const consentPage = (state: State, asked: Asked, cookies: string | undefined): Effect.Effect<Answer> =>
  Effect.gen(function*() {
    const known = cookieOf(cookies, cookieName(state)) ?? ""
    // A browser that has a page open already keeps its cookie: two logins at once must not end one another.
    const [csrf, browser] = [yield* state.random, cookiePattern.test(known) ? known : yield* state.random]
    const now = yield* Clock.currentTimeMillis
    state.consents.set(csrf, { asked, browser, expiresAt: now + state.millis("consent") })
    const { client, redirectUri, resources, scopes } = asked
    const body = `<p>A test server asks whether this client may act for you.</p>
<dl>
<dt>Client</dt><dd>${escape(client.name ?? client.clientId)} <small>(<code>${
      escape(client.clientId)
    }</code>)</small></dd>
<dt>May do</dt><dd>${list(scopes)}</dd>
<dt>At</dt><dd>${list(resources)}</dd>
<dt>You will be sent to</dt><dd><strong>${escape(originOf(redirectUri))}</strong> <small>(<code>${
      escape(redirectUri)
    }</code>)</small></dd>
</dl>
<form method="post" action="${escape(at(state, "consent"))}">
<input type="hidden" name="csrf" value="${csrf}">
${decisionFields(state)}
</form>`
    return page("Allow access?", body, redirectUri, { "set-cookie": cookie(state, browser) })
  })
