import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { messagesOf, Reading, textOf } from "../src/load/response.ts"

const whole = (text: string) => new Reading().take(Buffer.from(text))

const json = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"
const plain = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n${json}`

const chunked = (...chunks: ReadonlyArray<string>): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${
    [...chunks, ""].map((chunk) => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`).join("")
  }`

const stream = chunked(
  "id: 1\ndata: \n\n",
  "event: message\ndata: {\"method\":\"a\"}\n\nevent: mess",
  `age\ndata: ${json}\n\n`
)

describe("an answer", () => {
  it("is there once all of its body is, and not before", () => {
    const reading = new Reading()
    assert.isUndefined(reading.take(Buffer.from(plain.slice(0, -1))))
    const response = reading.take(Buffer.from(plain.slice(-1)))
    assert.strictEqual(response?.status, 200)
    assert.strictEqual(response?.body.toString(), json)
  })

  it("is the same however its bytes are cut", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(plain, stream),
        fc.array(fc.nat({ max: stream.length }), { maxLength: 8 }),
        (text, cuts) => {
          const bytes = Buffer.from(text)
          const places = [0, ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length]
          const reading = new Reading()
          const answers = places.slice(1)
            .map((end, index) => bytes.subarray(places[index], end))
            .filter((part) => part.length > 0)
            .map((part) => reading.take(part))
          assert.isTrue(answers.slice(0, -1).every((answer) => answer === undefined))
          assert.deepStrictEqual(answers.at(-1), whole(text))
        }
      )
    )
  })

  it("without a body ends with its head", () => {
    assert.strictEqual(whole("HTTP/1.1 202 Accepted\r\nDate: today\r\n\r\n")?.status, 202)
  })

  it("of a stream is known by its head, with what came behind it", () => {
    const response = new Reading().take(
      Buffer.from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n:\r\n"),
      true
    )
    assert.strictEqual(response?.body.toString(), "1\r\n:\r\n")
  })
})

describe("the messages of an answer", () => {
  it("are one of JSON, or none", () => {
    const response = whole(plain)
    assert.isDefined(response)
    assert.deepStrictEqual(messagesOf(response), [JSON.parse(json)])
    const empty = whole("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
    assert.isDefined(empty)
    assert.deepStrictEqual(messagesOf(empty), [])
  })

  it("are those of the events of a stream, without the chunks and without events that say nothing", () => {
    const response = whole(stream)
    assert.isDefined(response)
    assert.notInclude(textOf(response), "\r\n")
    assert.deepStrictEqual(messagesOf(response), [{ method: "a" }, JSON.parse(json)])
  })
})
