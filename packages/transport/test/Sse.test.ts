import { assert, describe, it } from "@effect/vitest"
import * as Sse from "@mcpfx/transport/Sse"

const encoder = new TextEncoder()

interface Read {
  readonly events: Array<Sse.Event>
  readonly tooLarge: number
  readonly lastEventId: string | undefined
  readonly retry: number | undefined
}

const read = (chunks: Iterable<Uint8Array>, maxBytes = 1024): Read => {
  const events: Array<Sse.Event> = []
  let tooLarge = 0
  const parser = new Sse.Parser({
    maxBytes,
    onEvent: (event) => events.push(event),
    onTooLarge: () => {
      tooLarge++
    }
  })
  for (const chunk of chunks) parser.push(chunk)
  return { events, tooLarge, lastEventId: parser.lastEventId, retry: parser.retry }
}

const bytewise = (text: string): Array<Uint8Array> => Array.from(encoder.encode(text), (byte) => Uint8Array.of(byte))
const data = (text: string): Array<string> => {
  const whole = read([encoder.encode(text)])
  assert.deepStrictEqual(read(bytewise(text)), whole)
  return whole.events.map((event) => event.data)
}

describe("Parser", () => {
  it("[HTP-12] joins data lines, whatever ends them, and skips comments", () => {
    for (const end of ["\n", "\r", "\r\n"]) {
      assert.deepStrictEqual(
        data(`: hi${end}${end}data: {"jsonrpc":"2.0",${end}data: "id":1,"result":{}}${end}${end}`),
        ["{\"jsonrpc\":\"2.0\",\n\"id\":1,\"result\":{}}"]
      )
    }
  })

  it("[HTP-12] does not take a CRLF that is cut in two for two line ends", () => {
    const chunks = [
      encoder.encode("data: a\r"),
      encoder.encode("\ndata: b\r"),
      encoder.encode("\n\r"),
      encoder.encode("\n")
    ]
    assert.deepStrictEqual(read(chunks).events.map((event) => event.data), ["a\nb"])
  })

  it("[HTP-12] takes one space after the colon away, and only one", () => {
    assert.deepStrictEqual(data("data:a\n\ndata: b\n\ndata:  c\n\ndata\n\n"), ["a", "b", " c", ""])
  })

  it("[CON-06] reads a hundred thousand comments and empty events in a row", () => {
    const text = ": keep-alive\n\ndata:\n\n\n".repeat(100_000)
    const { events } = read([encoder.encode(text), encoder.encode("data: last\n\n")], 10_000_000)
    assert.strictEqual(events.length, 100_001)
    assert.strictEqual(events.at(-1)?.data, "last")
  })

  it("[HTP-12] drops a byte order mark at the start of the stream", () => {
    assert.deepStrictEqual(data("\ufeffdata: a\n\n\ufeffdata: b\n\n"), ["a"])
  })

  it("[HTP-12] drops an event that the stream ends in", () => {
    assert.deepStrictEqual(data("data: a\n\ndata: b\n"), ["a"])
  })

  it("[HTP-12] ignores unknown fields and reads the type", () => {
    const { events } = read([encoder.encode("event: ping\nfoo: bar\ndata: x\n\nevent:\ndata: y\n\n")])
    assert.deepStrictEqual(events, [
      { event: "ping", data: "x", id: undefined, retry: undefined },
      { event: undefined, data: "y", id: undefined, retry: undefined }
    ])
  })

  it("[HTP-11] reports an event without data by its id and retry time", () => {
    assert.deepStrictEqual(read(bytewise("id: p-0\nretry: 500\ndata: \n\ndata: {}\n\n")), {
      events: [
        { event: undefined, data: "", id: "p-0", retry: 500 },
        { event: undefined, data: "{}", id: undefined, retry: undefined }
      ],
      tooLarge: 0,
      lastEventId: "p-0",
      retry: 500
    })
  })

  it("[HTP-11] reports nothing for blank lines and comments", () => {
    assert.deepStrictEqual(read([encoder.encode("\n\n:\n\n: x\n\n")]).events, [])
  })

  it("ignores ids with a NUL and retry times that are no number", () => {
    const { events, retry } = read([encoder.encode("id: a\0b\nretry: 5s\nretry: -1\nretry:\ndata: x\n\n")])
    assert.deepStrictEqual(events, [{ event: undefined, data: "x", id: undefined, retry: undefined }])
    assert.isUndefined(retry)
  })

  it("takes the id over once its event is complete, and forgets it on an empty one", () => {
    assert.strictEqual(read([encoder.encode("id: 1\ndata: a\n\nid: 2\ndata: b\n")]).lastEventId, "1")
    assert.isUndefined(read([encoder.encode("id: 1\n\nid\n\n")]).lastEventId)
  })

  it("remembers a retry time whose event was cut off", () => {
    assert.strictEqual(read([encoder.encode("retry: 1000\n")]).retry, 1000)
  })

  it("[FRM-02] keeps a character that is cut between two chunks", () => {
    assert.deepStrictEqual(data("data: é—🎉\n\n"), ["é—🎉"])
  })

  it("[FRM-14] skips an event past the limit to its end, once, and reads the next", () => {
    for (const chunks of [[encoder.encode(`data: ${"x".repeat(200)}\ndata: y\n\ndata: z\n\n`)]]) {
      const { events, tooLarge } = read(chunks, 100)
      assert.deepStrictEqual(events.map((event) => event.data), ["z"])
      assert.strictEqual(tooLarge, 1)
    }
  })

  it("[FRM-14] counts all lines of an event, but no comments", () => {
    const many = "data: 12345678\n".repeat(10)
    assert.strictEqual(read(bytewise(`${many}\ndata: z\n\n`), 100).tooLarge, 1)
    assert.strictEqual(read(bytewise(`${": 12345678\n".repeat(100)}data: z\n\n`), 100).tooLarge, 0)
  })

  it("goes on from the id it was given", () => {
    const parser = new Sse.Parser({ maxBytes: 100, onEvent: () => {}, onTooLarge: () => {}, lastEventId: "9" })
    assert.strictEqual(parser.lastEventId, "9")
    parser.push(encoder.encode("id: 10\ndata:\n\n"))
    assert.strictEqual(parser.lastEventId, "10")
  })
})

describe("encode", () => {
  it("writes one line a field and a blank line", () => {
    assert.strictEqual(
      Sse.encode({ id: "7", event: "message", retry: 250, data: "{}" }),
      "event: message\nid: 7\nretry: 250\ndata: {}\n\n"
    )
  })

  it("[HTTP-28] writes an event that only has an id", () => {
    assert.strictEqual(Sse.encode({ id: "p-0", data: "" }), "id: p-0\ndata: \n\n")
  })

  it("splits data at every line break", () => {
    assert.strictEqual(Sse.encode({ data: "a\nb\r\nc\rd" }), "data: a\ndata: b\ndata: c\ndata: d\n\n")
  })

  it("lets no id or type start a field of its own", () => {
    assert.strictEqual(Sse.encode({ id: "1\ndata: evil\0", data: "x" }), "id: 1data: evil\ndata: x\n\n")
  })

  it("[HTTP-64] writes comments that are no events", () => {
    assert.strictEqual(Sse.comment(), ":\n\n")
    assert.strictEqual(Sse.comment("still\nhere"), ": still\n: here\n\n")
    assert.deepStrictEqual(data(`${Sse.comment("a")}data: x\n\n${Sse.comment()}`), ["x"])
  })
})
