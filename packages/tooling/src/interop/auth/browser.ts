/** A browser small enough for tests: it keeps cookies, follows redirects, and says yes to every form it is shown. */

const attribute = (tag: string, name: string): string | undefined =>
  new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1]?.replaceAll("&amp;", "&")

/** The first form of a page, as it is sent when its buttons of consent are pressed and its fields hold the account. */
const formIn = (html: string, page: URL, account: string) => {
  const form = /<form\b[^>]*>/.exec(html)
  if (form === null) return undefined
  const fields = new URLSearchParams()
  for (const [tag] of html.slice(form.index).split("</form>")[0]?.matchAll(/<(?:input|button)\b[^>]*>/g) ?? []) {
    const name = attribute(tag, "name")
    if (name === undefined || name === "abort") continue
    fields.append(name, attribute(tag, "value") ?? account)
  }
  return { action: new URL(attribute(form[0], "action") ?? "", page), fields }
}

/** One person at one browser. */
export class Browser {
  /** The pages that clients sent somebody to, as they named them. */
  readonly visited: Array<URL> = []
  readonly #account: string
  readonly #cookies = new Map<string, string>()

  constructor(account = "ada") {
    this.#account = account
  }

  async #load(url: URL, body?: URLSearchParams): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ")
    const response = await fetch(url, {
      redirect: "manual",
      headers: cookie === "" ? {} : { cookie },
      ...(body === undefined ? {} : { method: "POST", body })
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (name !== undefined && value !== undefined) this.#cookies.set(name, value)
    }
    return response
  }

  /** Goes on from a page to an address that begins with `end`, which is not loaded, or to a page without a form. */
  async visit(start: URL, end?: string): Promise<URL> {
    this.visited.push(start)
    return this.#go(start, end)
  }

  async #go(start: URL, end: string | undefined): Promise<URL> {
    let response = await this.#load(start)
    let page = start
    for (let steps = 0; steps < 20; steps++) {
      const location = response.headers.get("location")
      if (location !== null) {
        page = new URL(location, page)
        if (end !== undefined && page.href.startsWith(end)) return page
        response = await this.#load(page)
        continue
      }
      const html = await response.text()
      const form = formIn(html, page, this.#account)
      if (form === undefined) {
        if (end === undefined && response.ok) return page
        throw new Error(`${page.href} leads nowhere: ${response.status} ${html.slice(0, 500)}`)
      }
      page = form.action
      response = await this.#load(page, form.fields)
    }
    throw new Error(`${start.href} leads round in circles`)
  }

  /** Follows redirects to the first page with a form, and takes the link or button there that says no. */
  async refuse(start: URL, end: string): Promise<URL> {
    this.visited.push(start)
    let response = await this.#load(start)
    let page = start
    for (let location = response.headers.get("location"); location !== null;) {
      page = new URL(location, page)
      if (page.href.startsWith(end)) return page
      response = await this.#load(page)
      location = response.headers.get("location")
    }
    const link = /href="([^"]*\/abort[^"]*)"/.exec(await response.text())?.[1]
    if (link === undefined) throw new Error(`${page.href} has no way to say no`)
    return this.#go(new URL(link, page), end)
  }
}
