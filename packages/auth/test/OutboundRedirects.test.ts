import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { get, out, post, reasonOf, scripted, url } from "./support/outbound.ts"

describe("redirects", () => {
  const redirect = (location: string | undefined, status = 302) =>
    new Response("there", { status, headers: location === undefined ? {} : { location } })

  it.effect("[SEC-05] are followed at the same origin, with the headers of the request", () =>
    Effect.gen(function*() {
      const { asked, client } = scripted((url) => url.pathname === "/b" ? new Response("hi") : redirect("/b?c=d"))
      const request = HttpClientRequest.setHeader(HttpClientRequest.appendUrlParam(get, "q", "1"), "accept", "x/y")
      assert.strictEqual((yield* out(client).send(request)).body, "hi")
      assert.deepStrictEqual(
        asked.map((request) => [Option.getOrThrow(HttpClientRequest.toUrl(request)).href, request.headers["accept"]]),
        [[`${url}&q=1`, "x/y"], ["https://login.example.com/b?c=d", "x/y"]]
      )
    }))

  it.effect("[SEC-05] to another origin are refused, and not followed", () =>
    Effect.gen(function*() {
      const targets = [
        "https://evil.example.com/",
        "http://login.example.com/",
        "https://login.example.com:8443/",
        "//169.254.169.254/",
        "https://127.0.0.1/",
        "javascript:alert(1)",
        "file:///etc/passwd"
      ]
      for (const location of targets) {
        const { asked, client } = scripted(() => redirect(location))
        const reason = yield* reasonOf(out(client).send(get))
        assert.deepStrictEqual([reason._tag, "why" in reason && reason.why], ["InsecureServer", "redirect"], location)
        assert.lengthOf(asked, 1)
      }
    }))

  it.effect("[SEC-05] are followed three times", () =>
    Effect.gen(function*() {
      const counted = (times: number) => {
        let left = times
        return scripted(() => left-- > 0 ? redirect("/again") : new Response("hi"))
      }
      const three = counted(3)
      assert.strictEqual((yield* out(three.client).send(get)).body, "hi")
      const four = counted(4)
      assert.strictEqual((yield* reasonOf(out(four.client).send(get)))._tag, "BadAnswer")
      assert.lengthOf(four.asked, 4)
    }))

  it.effect("of a POST keep method and body, or are refused", () =>
    Effect.gen(function*() {
      for (const status of [307, 308]) {
        const { asked, client } = scripted((url) => url.pathname === "/b" ? new Response("hi") : redirect("/b", status))
        assert.strictEqual((yield* out(client).send(post)).body, "hi")
        assert.deepStrictEqual(asked.map(({ body, method }) => [method, body]), [["POST", post.body], [
          "POST",
          post.body
        ]])
      }
      for (const status of [301, 302, 303]) {
        const { asked, client } = scripted(() => redirect("/b", status))
        assert.strictEqual((yield* reasonOf(out(client).send(post)))._tag, "BadAnswer")
        assert.lengthOf(asked, 1)
      }
    }))

  it.effect("that lead nowhere are bad answers", () =>
    Effect.gen(function*() {
      for (const location of [undefined, "https://"]) {
        const { client } = scripted(() => redirect(location))
        assert.strictEqual((yield* reasonOf(out(client).send(get)))._tag, "BadAnswer")
      }
    }))

  it.effect("[SEC-05] that a client followed by itself are found out", () =>
    Effect.gen(function*() {
      const { client } = scripted((url) =>
        url.host === "evil.example.com" ? new Response("hi") : redirect("https://evil.example.com/")
      )
      const reason = yield* reasonOf(out(HttpClient.followRedirects(client)).send(get))
      assert.deepStrictEqual([reason._tag, "why" in reason && reason.why], ["InsecureServer", "redirect"])
    }))
})
