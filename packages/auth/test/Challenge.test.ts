import { assert, describe, it } from "@effect/vitest"
import { Challenge } from "@mcpfx/auth"

const plain = (header: string) =>
  Challenge.parse(header).map(({ parameters, scheme, token68 }) => [
    scheme,
    Object.fromEntries(parameters),
    ...(token68 === undefined ? [] : [token68])
  ])

describe("parse", () => {
  const cases: ReadonlyArray<[title: string, header: string, expected: ReadonlyArray<unknown>]> = [
    ["nothing", "", []],
    ["a scheme alone", "Bearer", [["bearer", {}]]],
    [
      "one of the protocol's own",
      `Bearer resource_metadata="https://h/.well-known/oauth-protected-resource/mcp",\n  scope="files:read files:write"`,
      [["bearer", {
        resource_metadata: "https://h/.well-known/oauth-protected-resource/mcp",
        scope: "files:read files:write"
      }]]
    ],
    ["several in one header", `Basic realm="a", Bearer error="invalid_token", DPoP algs="ES256"`, [
      ["basic", { realm: "a" }],
      ["bearer", { error: "invalid_token" }],
      ["dpop", { algs: "ES256" }]
    ]],
    ["schemes without parameters beside others", `Negotiate, Bearer realm="x", Digest`, [
      ["negotiate", {}],
      ["bearer", { realm: "x" }],
      ["digest", {}]
    ]],
    ["token68", "Negotiate dG9rZW4+/w==, Bearer realm=x", [["negotiate", {}, "dG9rZW4+/w=="], ["bearer", {
      realm: "x"
    }]]],
    ["any case", `bEARER Realm="X", SCOPE="A b"`, [["bearer", { realm: "X", scope: "A b" }]]],
    ["odd spaces and commas", ` ,, Bearer   realm = "x" ,,  scope\t=\t"y" , `, [["bearer", {
      realm: "x",
      scope: "y"
    }]]],
    ["no quotes", "Bearer error=insufficient_scope, resource_metadata=https://h:1/p?q=1, scope=a", [
      ["bearer", { error: "insufficient_scope", resource_metadata: "https://h:1/p?q=1", scope: "a" }]
    ]],
    ["words without quotes", "Bearer scope=a b c, error=insufficient_scope", [
      ["bearer", { scope: "a b c", error: "insufficient_scope" }]
    ]],
    ["no commas", `Bearer realm="x" error="invalid_token"`, [["bearer", { realm: "x", error: "invalid_token" }]]],
    ["escapes", String.raw`Bearer realm="a \"b\" \\ c, d=e"`, [["bearer", { realm: `a "b" \\ c, d=e` }]]],
    ["a name twice", `Bearer scope="a", scope="b"`, [["bearer", { scope: "a" }]]],
    ["a parameter of nobody", `realm="x", Bearer scope="a"`, [["bearer", { scope: "a" }]]],
    ["characters that belong nowhere", `(Bearer) realm="x"; @ scope="a"`, [["bearer", { realm: "x", scope: "a" }]]]
  ]
  for (const [title, header, expected] of cases) {
    it(`[ACL-02] reads ${title}`, () => assert.deepStrictEqual(plain(header), expected))
  }

  it("[ACL-02] leaves out a parameter whose quote never ends", () => {
    assert.deepStrictEqual(plain(`Bearer realm="x", scope="a`), [["bearer", { realm: "x" }]])
  })

  it("[ACL-02] names of every object's members are names like any other", () => {
    const [challenge] = Challenge.parse(`Bearer __proto__="a", constructor="b"`)
    assert.deepStrictEqual([...challenge?.parameters ?? []], [["__proto__", "a"], ["constructor", "b"]])
    assert.isUndefined(Challenge.find("Bearer", "bearer")?.parameters.get("toString"))
  })

  it("[ACL-02] reads no more than a bounded part of what has no end", () => {
    assert.strictEqual(Challenge.parse("A, ".repeat(100_000)).length, 32)
    const many = Array.from({ length: 1000 }, (_, index) => `p${index}="v"`).join(", ")
    assert.strictEqual(Challenge.parse(`Bearer ${many}`)[0]?.parameters.size, 64)
    assert.isAtMost(
      Challenge.parse(`Bearer realm=${"x".repeat(1_000_000)}`)[0]?.parameters.get("realm")?.length ?? 0,
      32_768
    )
  })

  it("[ACL-02] hostile repetition takes no time", () => {
    for (
      const text of [
        `Bearer ${" ".repeat(32_000)}x`,
        `A ${"a".repeat(32_000)}!`,
        `A a=${"\\".repeat(32_000)}`,
        `A a="${"\\".repeat(31_999)}`
      ]
    ) {
      // Work that grows with the square of the length would not be over before the deadline of the test.
      for (let round = 0; round < 100; round++) assert.isAtMost(Challenge.parse(text).length, 1)
    }
  })
})

describe("print", () => {
  const print = (parameters: ReadonlyArray<readonly [string, string | undefined]>, scheme = "bearer") =>
    Challenge.print({ scheme, parameters })

  it("[ARS-05] writes schemes as clients know them, and leaves out what is not there", () => {
    assert.strictEqual(print([["scope", "a b"], ["error", undefined]]), `Bearer scope="a b"`)
    assert.strictEqual(print([["algs", "ES256"]], "DPOP"), `DPoP algs="ES256"`)
    assert.strictEqual(print([]), "Bearer")
  })

  it("[ARS-05] nothing leaves its quotes or its header", () => {
    assert.strictEqual(print([["realm", `a"\r\nSet-Cookie: x\\`]]), String.raw`Bearer realm="a\"  Set-Cookie: x\\"`)
    assert.strictEqual(print([["realm", "é\u{1f600}\u007f"]]), `Bearer realm="????"`)
    assert.strictEqual(print([["a b", "x"], ["c\r\n", "y"], ["ok", "z"]]), `Bearer ok="z"`)
    assert.strictEqual(print([], "Be\r\narer x"), "Bearerx")
  })
})
