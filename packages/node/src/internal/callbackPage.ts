/** What a browser sees that comes back from a login: a plain page that runs nothing, keeps nothing and repeats nothing. */

export type Outcome = "answered" | "denied" | "foreign" | "elsewhere" | "method" | "host"

interface Page {
  readonly status: number
  readonly title: string
  readonly text: string
}

const pages: Readonly<Record<Outcome, Page>> = {
  answered: {
    status: 200,
    title: "You can close this page",
    text: "The answer of the login has arrived. Go back to the program that sent you here: it goes on from there."
  },
  denied: {
    status: 200,
    title: "The login was denied",
    text: "No access was given. You can close this page; the program that sent you here knows."
  },
  foreign: {
    status: 400,
    title: "This is not the answer of the login",
    text:
      "It belongs to no login that is waited for here, so nothing was done. If one is still open, finish it on its page."
  },
  elsewhere: { status: 404, title: "Not found", text: "There is nothing here." },
  method: { status: 405, title: "Not allowed", text: "This address is for a browser that comes back from a login." },
  host: { status: 403, title: "Not allowed", text: "This address has another name." }
}

export interface Rendered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const headers = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "Cache-Control": "no-store",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  // One request a connection: nothing is left open when the login is over.
  Connection: "close"
}

export const render = (outcome: Outcome): Rendered => {
  const { status, text, title } = pages[outcome]
  return {
    status,
    headers: outcome === "method" ? { ...headers, Allow: "GET" } : headers,
    body:
      `<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>\n`
  }
}
