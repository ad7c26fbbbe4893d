import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Effect from "effect/Effect"
import type { Outlet } from "../Exchange.ts"
import { byteLength } from "./json.ts"

/** What an outlet writes to. */
export interface Sink {
  /** The text of an answer; never fails, an answer that cannot be written becomes an error that can. */
  /** Bytes of the largest message. */
  readonly maxBytes: number
  readonly encodeAnswer: (message: JsonRpc.Outgoing, id: JsonRpc.RequestId) => string
  readonly writeLine: (line: string) => void
  readonly pushLine: (message: JsonRpc.Outgoing, wanted: () => boolean) => Effect.Effect<void>
  /** The outlet has closed, after it was registered as open. */
  readonly onClose: (outlet: RequestOutlet) => void
}

/** The way back for one request on a connection. */
export class RequestOutlet implements Outlet {
  open = true
  /** Whether the sink knows it as open: only those whose admission came back before their answer. */
  registered = false
  disconnected: (() => void) | undefined = undefined
  protected readonly sink: Sink
  protected readonly id: JsonRpc.RequestId

  constructor(sink: Sink, id: JsonRpc.RequestId) {
    this.sink = sink
    this.id = id
  }

  get maxBytes(): number {
    return this.sink.maxBytes
  }

  answer(message: JsonRpc.Outgoing): void {
    if (!this.open) return
    this.sink.writeLine(this.sink.encodeAnswer(message, this.id))
    this.close()
  }

  refuse(error: JsonRpc.WireError): void {
    this.answer(JsonRpc.failure(this.id, error))
  }

  end(): void {
    if (this.open) this.close()
  }

  push(message: JsonRpc.Outgoing): Effect.Effect<void> {
    return Effect.suspend(() => this.open ? this.sink.pushLine(message, () => this.open) : Effect.void)
  }

  protected close(): void {
    this.open = false
    this.disconnected = undefined
    if (this.registered) this.sink.onClose(this)
  }
}

/** The answers of one batch: written as one array once the last of its requests is done. */
export class Batch {
  private readonly sink: Sink
  private readonly maxBytes: number
  private readonly texts: Array<string> = []
  private bytes = 2
  private open = 1

  constructor(sink: Sink, maxBytes: number) {
    this.sink = sink
    this.maxBytes = maxBytes
  }

  outlet(id: JsonRpc.RequestId): RequestOutlet {
    this.open++
    return new BatchOutlet(this.sink, id, this)
  }

  /** An answer that would make the array too long travels by itself: every answer arrives. */
  add(text: string): void {
    const bytes = byteLength(text) + 1
    if (this.bytes + bytes > this.maxBytes) return this.sink.writeLine(text)
    this.bytes += bytes
    this.texts.push(text)
  }

  /** One request is done, or (once) all of them are admitted. */
  settle(): void {
    if (--this.open === 0 && this.texts.length > 0) this.sink.writeLine(`[${this.texts.join(",")}]`)
  }
}

class BatchOutlet extends RequestOutlet {
  private readonly batch: Batch

  constructor(sink: Sink, id: JsonRpc.RequestId, batch: Batch) {
    super(sink, id)
    this.batch = batch
  }

  override answer(message: JsonRpc.Outgoing): void {
    if (!this.open) return
    this.batch.add(this.sink.encodeAnswer(message, this.id))
    this.close()
  }

  protected override close(): void {
    this.open = false
    this.batch.settle()
    super.close()
  }
}
