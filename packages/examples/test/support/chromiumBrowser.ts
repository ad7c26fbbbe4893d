/** Chromium as the browser that logins open: somebody reads and clicks on the consent page. */
import type { Browser } from "@mcpfx/node"
import { attempt, Chromium } from "@mcpfx/tooling/chromium"
import { Effect, FiberSet } from "effect"

/** `seen` is what the person saw, page by page, and what the browser complained of, once every login is over. */
export const make = Effect.fnUntraced(function*(decision: "Allow" | "Deny") {
  const chromium = yield* Chromium
  const tabs = yield* FiberSet.make<void, never>()
  const seen = { titles: Array.of<string>(), texts: Array.of<string>(), complaints: Array.of<string>() }
  const click = (url: URL) =>
    attempt(async () => {
      const page = await chromium.newPage()
      page.on("console", (message) => {
        const isIcon = message.location().url.endsWith("/favicon.ico")
        if (message.type() === "error" && !isIcon) seen.complaints.push(message.text())
      })
      const read = async () => {
        seen.titles.push(await page.title())
        seen.texts.push(await page.locator("body").innerText())
      }
      await page.goto(url.href)
      await read()
      await page.getByRole("button", { name: decision }).click()
      await page.waitForURL("http://127.0.0.1:*/callback?*")
      await read()
      await page.close()
    })
  const browser: Browser.Browser = {
    open: (url) => Effect.asVoid(FiberSet.run(tabs, Effect.orDie(click(url))))
  }
  return { browser, seen: Effect.as(FiberSet.awaitEmpty(tabs), seen) }
})
