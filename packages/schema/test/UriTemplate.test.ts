import { assert, describe, it } from "@effect/vitest"
import { Option, Result } from "effect"
import { runPlan } from "../src/internal/uriTemplateMatch.ts"
import * as UriTemplate from "../src/UriTemplate.ts"

const read = (source: string) => Result.getOrThrow(UriTemplate.parse(source))
const expand = (source: string, values: { readonly [name: string]: UriTemplate.Value }) =>
  Result.getOrThrow(UriTemplate.expand(read(source), values))
const matcher = (source: string, separators: "refuse" | "decode" = "refuse") =>
  Result.getOrThrow(UriTemplate.matcher(read(source), { separators }))
const match = (source: string, uri: string) => Option.getOrUndefined(UriTemplate.match(matcher(source), uri))
const whyNot = (source: string) => Result.getOrThrow(Result.flip(UriTemplate.matcher(read(source)))).reason

/** The variables of RFC 6570, section 3.2. */
const rfc: { readonly [name: string]: UriTemplate.Value } = {
  count: ["one", "two", "three"],
  dom: ["example", "com"],
  dub: "me/too",
  hello: "Hello World!",
  half: "50%",
  var: "value",
  who: "fred",
  base: "http://example.com/home/",
  path: "/foo/bar",
  list: ["red", "green", "blue"],
  keys: { semi: ";", dot: ".", comma: "," },
  v: "6",
  x: "1024",
  y: "768",
  empty: "",
  empty_keys: {},
  undef: null
}

/** The examples of RFC 6570, sections 3.2.1 to 3.2.9. */
const examples: ReadonlyArray<
  readonly [section: string, rows: ReadonlyArray<readonly [template: string, uri: string]>]
> = [
  ["3.2.1 variable expansion", [
    ["{count}", "one,two,three"],
    ["{count*}", "one,two,three"],
    ["{/count}", "/one,two,three"],
    ["{/count*}", "/one/two/three"],
    ["{;count}", ";count=one,two,three"],
    ["{;count*}", ";count=one;count=two;count=three"],
    ["{?count}", "?count=one,two,three"],
    ["{?count*}", "?count=one&count=two&count=three"],
    ["{&count*}", "&count=one&count=two&count=three"]
  ]],
  ["3.2.2 simple strings", [
    ["{var}", "value"],
    ["{hello}", "Hello%20World%21"],
    ["{half}", "50%25"],
    ["O{empty}X", "OX"],
    ["O{undef}X", "OX"],
    ["{x,y}", "1024,768"],
    ["{x,hello,y}", "1024,Hello%20World%21,768"],
    ["?{x,empty}", "?1024,"],
    ["?{x,undef}", "?1024"],
    ["?{undef,y}", "?768"],
    ["{var:3}", "val"],
    ["{var:30}", "value"],
    ["{list}", "red,green,blue"],
    ["{list*}", "red,green,blue"],
    ["{keys}", "semi,%3B,dot,.,comma,%2C"],
    ["{keys*}", "semi=%3B,dot=.,comma=%2C"]
  ]],
  ["3.2.3 reserved", [
    ["{+var}", "value"],
    ["{+hello}", "Hello%20World!"],
    ["{+half}", "50%25"],
    ["{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"],
    ["{+base}index", "http://example.com/home/index"],
    ["O{+empty}X", "OX"],
    ["O{+undef}X", "OX"],
    ["{+path}/here", "/foo/bar/here"],
    ["here?ref={+path}", "here?ref=/foo/bar"],
    ["up{+path}{var}/here", "up/foo/barvalue/here"],
    ["{+x,hello,y}", "1024,Hello%20World!,768"],
    ["{+path,x}/here", "/foo/bar,1024/here"],
    ["{+path:6}/here", "/foo/b/here"],
    ["{+list}", "red,green,blue"],
    ["{+list*}", "red,green,blue"],
    ["{+keys}", "semi,;,dot,.,comma,,"],
    ["{+keys*}", "semi=;,dot=.,comma=,"]
  ]],
  ["3.2.4 fragments", [
    ["{#var}", "#value"],
    ["{#hello}", "#Hello%20World!"],
    ["{#half}", "#50%25"],
    ["foo{#empty}", "foo#"],
    ["foo{#undef}", "foo"],
    ["{#x,hello,y}", "#1024,Hello%20World!,768"],
    ["{#path,x}/here", "#/foo/bar,1024/here"],
    ["{#path:6}/here", "#/foo/b/here"],
    ["{#list}", "#red,green,blue"],
    ["{#list*}", "#red,green,blue"],
    ["{#keys}", "#semi,;,dot,.,comma,,"],
    ["{#keys*}", "#semi=;,dot=.,comma=,"]
  ]],
  ["3.2.5 labels", [
    ["{.who}", ".fred"],
    ["{.who,who}", ".fred.fred"],
    ["{.half,who}", ".50%25.fred"],
    ["www{.dom*}", "www.example.com"],
    ["X{.var}", "X.value"],
    ["X{.empty}", "X."],
    ["X{.undef}", "X"],
    ["X{.var:3}", "X.val"],
    ["X{.list}", "X.red,green,blue"],
    ["X{.list*}", "X.red.green.blue"],
    ["X{.keys}", "X.semi,%3B,dot,.,comma,%2C"],
    ["X{.keys*}", "X.semi=%3B.dot=..comma=%2C"],
    ["X{.empty_keys}", "X"],
    ["X{.empty_keys*}", "X"]
  ]],
  ["3.2.6 path segments", [
    ["{/who}", "/fred"],
    ["{/who,who}", "/fred/fred"],
    ["{/half,who}", "/50%25/fred"],
    ["{/who,dub}", "/fred/me%2Ftoo"],
    ["{/var}", "/value"],
    ["{/var,empty}", "/value/"],
    ["{/var,undef}", "/value"],
    ["{/var,x}/here", "/value/1024/here"],
    ["{/var:1,var}", "/v/value"],
    ["{/list}", "/red,green,blue"],
    ["{/list*}", "/red/green/blue"],
    ["{/list*,path:4}", "/red/green/blue/%2Ffoo"],
    ["{/keys}", "/semi,%3B,dot,.,comma,%2C"],
    ["{/keys*}", "/semi=%3B/dot=./comma=%2C"]
  ]],
  ["3.2.7 path parameters", [
    ["{;who}", ";who=fred"],
    ["{;half}", ";half=50%25"],
    ["{;empty}", ";empty"],
    ["{;v,empty,who}", ";v=6;empty;who=fred"],
    ["{;v,bar,who}", ";v=6;who=fred"],
    ["{;x,y}", ";x=1024;y=768"],
    ["{;x,y,empty}", ";x=1024;y=768;empty"],
    ["{;x,y,undef}", ";x=1024;y=768"],
    ["{;hello:5}", ";hello=Hello"],
    ["{;list}", ";list=red,green,blue"],
    ["{;list*}", ";list=red;list=green;list=blue"],
    ["{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"],
    ["{;keys*}", ";semi=%3B;dot=.;comma=%2C"]
  ]],
  ["3.2.8 queries", [
    ["{?who}", "?who=fred"],
    ["{?half}", "?half=50%25"],
    ["{?x,y}", "?x=1024&y=768"],
    ["{?x,y,empty}", "?x=1024&y=768&empty="],
    ["{?x,y,undef}", "?x=1024&y=768"],
    ["{?var:3}", "?var=val"],
    ["{?list}", "?list=red,green,blue"],
    ["{?list*}", "?list=red&list=green&list=blue"],
    ["{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"],
    ["{?keys*}", "?semi=%3B&dot=.&comma=%2C"]
  ]],
  ["3.2.9 query continuations", [
    ["{&who}", "&who=fred"],
    ["{&half}", "&half=50%25"],
    ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
    ["{&x,y,empty}", "&x=1024&y=768&empty="],
    ["{&x,y,undef}", "&x=1024&y=768"],
    ["{&var:3}", "&var=val"],
    ["{&list}", "&list=red,green,blue"],
    ["{&list*}", "&list=red&list=green&list=blue"],
    ["{&keys}", "&keys=semi,%3B,dot,.,comma,%2C"],
    ["{&keys*}", "&semi=%3B&dot=.&comma=%2C"]
  ]]
]

describe("expand", () => {
  for (const [section, rows] of examples) {
    it(`[RES-13] expands the examples of RFC 6570, ${section}`, () => {
      for (const [template, uri] of rows) assert.strictEqual(expand(template, rfc), uri, template)
    })
  }

  it("[RES-13] counts a prefix in characters and keeps triplets of reserved values", () => {
    assert.strictEqual(expand("{v:2}", { v: "😀é!" }), "%F0%9F%98%80%C3%A9")
    assert.strictEqual(expand("{+v}", { v: "a%20b%zz[1]" }), "a%20b%25zz[1]")
    assert.strictEqual(expand("{v}", { v: "a%20b" }), "a%2520b")
  })

  it("takes numbers and booleans, and ignores what the template does not name", () => {
    assert.strictEqual(expand("x:{n}{?b}", { n: 5, b: false, other: "z" }), "x:5?b=false")
    assert.strictEqual(expand("x:{toString}", {}), "x:")
    assert.strictEqual(expand("x:{?p*}", { p: { a: 1, b: null, c: "" } }), "x:?a=1&c=")
  })

  it("encodes what a literal cannot hold, and keeps its triplets", () => {
    assert.strictEqual(expand("demo://caf\u00e9/%C3%A9/{x}", { x: 1 }), "demo://caf%C3%A9/%C3%A9/1")
  })

  it("fails for values that no URI can hold", () => {
    const fail = (source: string, value: UriTemplate.Value) =>
      Result.getOrThrow(Result.flip(UriTemplate.expand(read(source), { v: value })))
    assert.strictEqual(fail("{v}", "a\ud800").variable, "v")
    assert.strictEqual(fail("{+v}", ["a", "\udc00"])._tag, "InvalidValue")
    assert.match(fail("{v:3}", ["a"]).reason, /prefix/)
    assert.match(fail("{?v:3}", { a: "b" }).reason, /prefix/)
  })
})

describe("parse", () => {
  it("[RES-13] [RES-10] refuses what RFC 6570 does not allow, and says where", () => {
    const at = (source: string) => Result.getOrThrow(Result.flip(UriTemplate.parse(source)))
    const rows: ReadonlyArray<readonly [string, number]> = [
      ["demo://u/{customer-id}", 10],
      ["{}", 1],
      ["a{b", 1],
      ["a}b", 1],
      ["{a{b}}", 1],
      ["{a,}", 3],
      ["{a.}", 1],
      ["{a b}", 1],
      ["{=a}", 1],
      ["{|a}", 1],
      ["{a:0}", 2],
      ["{a:10000}", 2],
      ["{a:x}", 2],
      ["{a:3*}", 1],
      ["a b", 1],
      ["a\\b", 1],
      ["a%2", 1],
      ["a\u0000", 1]
    ]
    for (const [source, position] of rows) {
      const error = at(source)
      assert.strictEqual(error._tag, "InvalidTemplate", source)
      assert.strictEqual(error.position, position, source)
      assert.strictEqual(error.template, source)
    }
  })

  it("[RES-10] accepts dots, underscores and triplets in names", () => {
    for (const source of ["{user.id}", "{_a}", "{%C3%A9}", "{a,b*,c:3}"]) {
      assert.isTrue(Result.isSuccess(UriTemplate.parse(source)))
    }
  })
})

describe("match", () => {
  it("[field RES-01] decodes once, and leaves a plus sign alone", () => {
    assert.deepStrictEqual(match("demo://item/{name}", "demo://item/caf%C3%A9%20a+b"), { name: "caf\u00e9 a+b" })
    assert.deepStrictEqual(match("demo://item/{name}", "demo://item/a%2541"), { name: "a%41" })
  })

  it("[field RES-01] does not match broken escapes", () => {
    for (const bad of ["%E9", "%zz", "%", "%4", "%C3", "%ED%A0%80"]) {
      assert.isUndefined(match("demo://item/{name}", `demo://item/${bad}`), bad)
      assert.isUndefined(match("demo://item{?name}", `demo://item?name=${bad}`), bad)
      assert.isUndefined(match("demo://item/{+name}", `demo://item/${bad}`), bad)
    }
  })

  it("[field RES-02] takes literals to the letter and variables by name", () => {
    assert.isUndefined(match("demo://a.b/{x}", "demo://aXb/1"))
    assert.deepStrictEqual(match("demo://{b}/{a}", "demo://1/2"), { b: "1", a: "2" })
    assert.isUndefined(match("demo://(ab)*/{x}", "demo://ab/1"))
    assert.deepStrictEqual(match("demo://(ab)*/{x}", "demo://(ab)*/1"), { x: "1" })
  })

  it("[RES-09] [field RES-02] never matches a separator or a dot segment with a single value", () => {
    const traversals = [
      "..%2F..%2Fsecret",
      "..%2f..%2fsecret",
      "a/b",
      "a%2Fb",
      "a%5Cb",
      "a\\b",
      "..",
      ".",
      "%2e%2e",
      "%2E.",
      "%2e",
      "a%00b",
      ""
    ]
    for (const value of traversals) {
      assert.isUndefined(match("file:///docs/{name}", `file:///docs/${value}`), value)
      assert.isUndefined(match("file:///docs{/name}", `file:///docs/${value}`), value)
      assert.isUndefined(match("search://q?file={name}", `search://q?file=${value}`), value)
    }
  })

  it("[RES-09] never gives a wide variable a dot segment or an encoded separator", () => {
    const traversals = [
      "../x",
      "a/../../x",
      "a/..",
      "./a",
      "a/%2e%2e/b",
      "a/%2E%2E",
      "..%2Fx",
      "a%2Fb",
      "a%5C..%5Cb",
      "a\\..",
      "x%00"
    ]
    for (const value of traversals) {
      assert.isUndefined(match("file:///{+path}", `file:///${value}`), value)
      assert.isUndefined(match("file://{/path*}", `file:///${value}`), value)
    }
    assert.deepStrictEqual(match("file:///{+path}", "file:///a/b..c/%2e%2e%2ed"), { path: "a/b..c/...d" })
    assert.isUndefined(match("file://{/path*}", "file:///a//b"))
    assert.isUndefined(match("file://{/path*}", "file:///a/"))
  })

  it("[RES-09] keeps a literal after a dot segment from being reached", () => {
    assert.isUndefined(match("file:///a/{x}/c", "file:///a/../c"))
    assert.isUndefined(match("file:///a/{x}.txt", "file:///a/...txt"))
    assert.isUndefined(match("file:///{x}.{y}", "file:///..%2e"))
  })

  it("[RES-08] gives an encoded separator where that was asked for", () => {
    const term = matcher("demo://q/{term}", "decode")
    const uri = expand("demo://q/{term}", { term: "a/b?c#d&e=f+g%" })
    assert.strictEqual(uri, "demo://q/a%2Fb%3Fc%23d%26e%3Df%2Bg%25")
    assert.deepStrictEqual(UriTemplate.match(term, uri), Option.some({ term: "a/b?c#d&e=f+g%" }))
    assert.isTrue(Option.isNone(UriTemplate.match(term, "demo://q/a/b")))
    assert.isTrue(Option.isNone(UriTemplate.match(term, "demo://q/%2e%2e")))
    assert.deepStrictEqual(match("demo://f/{+path}", expand("demo://f/{+path}", { path: "a/b c" })), { path: "a/b c" })
  })

  it("matches the templates of opaque schemes and of literal queries", () => {
    assert.deepStrictEqual(match("urn:isbn:{id}", "urn:isbn:0451450523"), { id: "0451450523" })
    assert.deepStrictEqual(match("search://q?term={x}", "search://q?term=cats"), { x: "cats" })
    assert.deepStrictEqual(match("search://q?term={x}&lang={y}", "search://q?term=a%26b&lang=en"), {
      x: "a&b",
      y: "en"
    })
    assert.isUndefined(match("search://q?term={x}", "search://q?term=a&other=1"))
    assert.isUndefined(match("search://q?term={x}", "search://q"))
  })

  it("[RES-09] a single value is not a path of two", () => {
    assert.deepStrictEqual(match("demo://item/{id}", "demo://item/5"), { id: "5" })
    assert.isUndefined(match("demo://item/{id}", "demo://item/5/x"))
    assert.isUndefined(match("demo://item/{id}", "demo://item/"))
    assert.isUndefined(match("demo://item/{id}", "demo://item/5?x"))
    assert.isUndefined(match("demo://item/{id}", "demo://item/5#x"))
    assert.isUndefined(match("demo://item/{id}", "DEMO://item/5/"))
  })

  it("[RES-10] matches every form that it accepts, with named variables", () => {
    assert.deepStrictEqual(match("demo://f/{+path}", "demo://f/a/b.txt"), { path: "a/b.txt" })
    assert.deepStrictEqual(match("demo://u/{user.id}", "demo://u/7"), { "user.id": "7" })
    const page = "demo://t{?cursor,limit}"
    assert.deepStrictEqual(match(page, "demo://t"), {})
    assert.deepStrictEqual(match(page, "demo://t?"), {})
    assert.deepStrictEqual(match(page, "demo://t?limit=5"), { limit: "5" })
    assert.deepStrictEqual(match(page, "demo://t?limit=5&cursor=c"), { limit: "5", cursor: "c" })
    assert.deepStrictEqual(match(page, "demo://t?cursor="), { cursor: "" })
    assert.isUndefined(match(page, "demo://t?limit=5&limit=6"))
    assert.isUndefined(match(page, "demo://t?other=5"))
    assert.isUndefined(match(page, "demo://t/x?limit=5"))
  })

  it("matches lists, labels, path parameters, continuations and fragments", () => {
    assert.deepStrictEqual(match("demo://t{?tag*}", "demo://t?tag=a&tag=b%26c"), { tag: ["a", "b&c"] })
    assert.deepStrictEqual(match("demo://t/{xs*}", "demo://t/a,b%2Cc"), { xs: ["a", "b,c"] })
    assert.deepStrictEqual(match("demo://t/{x,y}", "demo://t/1,2"), { x: "1", y: "2" })
    assert.isUndefined(match("demo://t/{x,y}", "demo://t/1,2,3"))
    assert.deepStrictEqual(match("demo://t{/p*}", "demo://t/a/b%20c"), { p: ["a", "b c"] })
    assert.deepStrictEqual(match("demo://t{/p*}", "demo://t"), {})
    assert.deepStrictEqual(match("demo://t/{id}{/p*}", "demo://t/7/a/b"), { id: "7", p: ["a", "b"] })
    assert.deepStrictEqual(match("demo://t/{id}{/p*}", "demo://t/7"), { id: "7" })
    assert.deepStrictEqual(match("demo://t{/a,b}", "demo://t/1"), { a: "1" })
    assert.deepStrictEqual(match("demo://t{/a,b}", "demo://t/1/2"), { a: "1", b: "2" })
    assert.isUndefined(match("demo://t{/a,b}", "demo://t/1/2/3"))
    assert.deepStrictEqual(match("demo://t/{f}{.ext}", "demo://t/a.b"), { f: "a", ext: "b" })
    assert.deepStrictEqual(match("demo://t/{f}{.ext}", "demo://t/a"), { f: "a" })
    assert.deepStrictEqual(match("demo://t/{f}{.ext}/x", "demo://t/a.b/x"), { f: "a", ext: "b" })
    assert.deepStrictEqual(match("demo://t/{f}{;v,w}", "demo://t/a;w=2;v=1"), { f: "a", v: "1", w: "2" })
    assert.deepStrictEqual(match("demo://t/{f}{;v,w}", "demo://t/a;v"), { f: "a", v: "" })
    assert.deepStrictEqual(match("demo://t?k=1{&x}", "demo://t?k=1&x=2"), { x: "2" })
    assert.deepStrictEqual(match("demo://t?k={k}{&x}", "demo://t?k=1"), { k: "1" })
    assert.isUndefined(match("demo://t?k=1{&x}", "demo://t?x=2&k=1"))
    assert.deepStrictEqual(match("demo://t{?x}{#at}", "demo://t?x=1#a/b?c"), { x: "1", at: "a/b?c" })
    assert.deepStrictEqual(match("demo://t{?x}{#at}", "demo://t"), {})
    assert.deepStrictEqual(match("demo://t#p{n}", "demo://t#p4"), { n: "4" })
  })

  it("ends a value at the first separator that it might hold, and a wide one as late as it can", () => {
    assert.deepStrictEqual(match("d://{y}-{m}-{d}", "d://2026-07-28"), { y: "2026", m: "07", d: "28" })
    assert.deepStrictEqual(match("d://{a}-{b}", "d://x-y-z"), { a: "x", b: "y-z" })
    assert.deepStrictEqual(match("d://{name}.txt", "d://x.txt.txt"), { name: "x.txt" })
    assert.deepStrictEqual(match("d://{+dir}/{name}.{ext}", "d://a/b/c.tar.gz"), {
      dir: "a/b",
      name: "c.tar",
      ext: "gz"
    })
    assert.deepStrictEqual(match("d://{+path}/raw", "d://a/raw/raw"), { path: "a/raw" })
    assert.deepStrictEqual(match("d://x{/path*}/end", "d://x/a/b/end"), { path: ["a", "b"] })
  })

  it("takes the digits of a triplet in either case", () => {
    assert.deepStrictEqual(match("d://caf%c3%a9/{x}", "d://caf%C3%A9/1"), { x: "1" })
    assert.deepStrictEqual(match("d://caf\u00e9/{x}", "d://caf%c3%a9/1"), { x: "1" })
  })

  it("does not match characters that no URI holds", () => {
    for (const bad of ["a b", "a<b", "a\"b", "a|b", "a\nb", "a{b}"]) {
      assert.isUndefined(match("d://{x}", `d://${bad}`), bad)
      assert.isUndefined(match("d://{+x}", `d://${bad}`), bad)
      assert.isUndefined(match("d://{?x}", `d://?x=${bad}`), bad)
    }
  })

  it("gives variables of any name as plain members", () => {
    const found = match("d://{__proto__}/{constructor}", "d://1/2")
    assert.deepStrictEqual(Object.entries(found ?? {}), [["__proto__", "1"], ["constructor", "2"]])
  })
})

describe("matcher", () => {
  it("[SCH-22] refuses templates whose variables cannot be told apart, with the reason", () => {
    assert.match(whyNot("d://{a}{b}"), /nothing stands between "a" and "b"/)
    assert.match(whyNot("d://{/a*}{/b*}{/c*}"), /"a" ends and "b" begins/)
    assert.match(whyNot("d://{+a}/{+b}"), /"a" ends and "b" begins/)
    assert.match(whyNot("d://{+a}{b}"), /nothing stands between/)
    assert.match(whyNot("d://{a}{+b}"), /nothing stands between/)
    assert.match(whyNot("d://{+a,b}"), /one plain variable/)
    assert.match(whyNot("d://{#a,b}"), /one plain variable/)
    assert.match(whyNot("d://{.a*}"), /joined by "\."/)
    assert.match(whyNot("d://{a:3}"), /prefix modifier/)
    assert.match(whyNot("d://{a}/{a}"), /"a" appears twice/)
    assert.match(whyNot("d://x{?a}{?b}"), /second/)
    assert.match(whyNot("d://x{&a}"), /without a query/)
    assert.match(whyNot("d://x{?a}/y"), /can follow/)
    assert.match(whyNot("d://x?q={+a}{&b}"), /swallow/)
    assert.match(whyNot("d://x{#a}y"), /can follow/)
    assert.match(whyNot("d://x{#a}{?b}"), /cannot follow a fragment/)
    assert.match(whyNot("d://x;v=1{;w}"), /";" before/)
    assert.match(whyNot("d://x{;w}/y"), /can follow/)
  })

  it("says which variables a URI may leave out and which are lists", () => {
    assert.deepStrictEqual(
      matcher("d://{a}{/b,c}{?d,e*}{#f}").variables.map(({ list, name, optional }) =>
        `${name}${list ? "*" : ""}${optional ? "?" : ""}`
      ),
      ["a", "b?", "c?", "d?", "e*?", "f?"]
    )
    assert.deepStrictEqual(matcher("d://{a}{/b*}/{c}").variables.map(({ optional }) => optional), [false, true, false])
  })
})

describe("steps", () => {
  const long = 50_000
  const rows: ReadonlyArray<readonly [template: string, head: string, unit: string, tail: string]> = [
    ["d://x{/a*}", "d://x", "/a", "/"],
    ["d://{a}-{b}-{c}-{d}-{e}", "d://", "-", "/"],
    ["d://{a}aab{b}aab{c}", "d://", "a", "/"],
    ["d://{+p}/{a}.{b}", "d://", "./", "?"],
    ["d://{+p}aab{a}aab", "d://", "a", "b"],
    ["d://{xs*}", "d://", "a,", "%"],
    ["d://x{?a*}", "d://x?", "a=1&", "b"],
    ["d://x{;a*}", "d://x", ";a=1", ";b"],
    ["d://x{/a,b,c,d}", "d://x", "/a", ""],
    ["d://{a}{.b,c,d}", "d://", ".a", "/"],
    ["d://{a}", "d://", "%2E", "%2F"]
  ]
  for (const [template, head, unit, tail] of rows) {
    it(`[SCH-22] looks at each character of a long URI a bounded number of times: ${template}`, () => {
      const { plan } = matcher(template)
      const steps = (times: number) => runPlan(plan, head + unit.repeat(times) + tail, false).steps
      const length = unit.length * long
      assert.isAtMost(steps(long / 10), length / 10 * 12)
      assert.isAtMost(steps(long), length * 12)
      // twice as long is at most twice as much work, and a little
      assert.isAtMost(steps(2 * long), 2.1 * Math.max(steps(long), length))
    })
  }
})

describe("fault", () => {
  it("[RES-13] [field RES-05] tells URIs from other texts", () => {
    const good = ["demo://a", "urn:isbn:1", "file:///a%20b", "mailto:a@b.c", "http://[::1]:80/a?b#c", "x-y+z.1:a"]
    for (const uri of good) assert.isUndefined(UriTemplate.fault(uri), uri)
    const bad = [
      "",
      "not a uri",
      "nope",
      "demo:",
      "/a/b",
      "1a:b",
      "demo://a b",
      "demo://%zz",
      "demo://%E9",
      "demo://caf\u00e9",
      "demo://a\n"
    ]
    for (const uri of bad) assert.isString(UriTemplate.fault(uri), uri)
  })
})
