/** Tokens that are bound to a key, and servers that want their nonce in each proof. */
import { assert, describe, it } from "@effect/vitest"
import { Dpop } from "@mcpfx/auth"
import { Effect } from "effect"
import { decodeJwt } from "jose"
import {
  challenge,
  connect,
  grant,
  json,
  Provider,
  reasonOf,
  resourceAddress,
  type Seen,
  server,
  tokenAddress
} from "./support/world.ts"

const proofOf = (seen: Seen | undefined) => decodeJwt(seen?.headers["dpop"] ?? "")

const wants = (nonce: string, headers: Record<string, string> = {}) =>
  new Response("", {
    status: 401,
    headers: { "www-authenticate": "DPoP error=\"use_dpop_nonce\"", "dpop-nonce": nonce, ...headers }
  })

const bound = Effect.fnUntraced(function*(answer: (seen: Seen) => Response) {
  const provider = new Provider()
  provider.world
    .on(`POST ${tokenAddress}`, () => json({ ...provider.next(), token_type: "DPoP" }))
    .on(server, (seen) =>
      seen.headers["authorization"] === undefined
        ? challenge(`resource_metadata="${resourceAddress}", Bearer`)
        : answer(seen))
  const dpop = yield* Dpop.make()
  const made = yield* connect(provider.world, { dpop, grant: grant({ refreshes: false }) })
  return { ...made, provider, dpop }
})

describe("OAuthClient: DPoP", () => {
  it.effect("a request carries the token by its own scheme, and a proof of its own", () =>
    Effect.gen(function*() {
      const { client, provider } = yield* bound(() => json({}))
      yield* client.post(server)
      yield* client.get(server)
      const [, post, get] = provider.world.at(server)
      assert.strictEqual(post?.headers["authorization"], "DPoP a1")
      assert.deepInclude(proofOf(post), { htm: "POST", htu: server })
      assert.deepInclude(proofOf(get), { htm: "GET", htu: server })
      assert.isString(proofOf(get)["ath"])
      assert.notStrictEqual(proofOf(post).jti, proofOf(get).jti)
    }))

  it.effect("a server that wants its nonce gets it, without new tokens, and what it gives later too", () =>
    Effect.gen(function*() {
      let wanted = "n1"
      const { client, provider } = yield* bound((seen) => {
        if (proofOf(seen)["nonce"] !== wanted) return wants(wanted)
        wanted = "n2"
        return json({}, 200, { "dpop-nonce": wanted })
      })
      assert.strictEqual((yield* client.post(server)).status, 200)
      assert.strictEqual((yield* client.post(server)).status, 200)
      assert.strictEqual(provider.given, 1)
      assert.deepStrictEqual(provider.world.at(server).slice(1).map((seen) => proofOf(seen)["nonce"]), [
        undefined,
        "n1",
        "n2"
      ])
    }))

  it.effect("[field AUT-10] a server that wants another nonce each time is not followed for ever", () =>
    Effect.gen(function*() {
      let n = 0
      const { client, provider } = yield* bound(() => wants(`n${n++}`))
      assert.strictEqual((yield* reasonOf(client.post(server)))._tag, "TokenRejected")
      assert.isAtMost(provider.world.at(server).length, 6)
      assert.isAtMost(provider.given, 2)
    }))
})
