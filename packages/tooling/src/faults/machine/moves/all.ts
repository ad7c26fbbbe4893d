/** All moves, and how often each is made. */
import { chooser, type Move } from "../../moves.ts"
import type { Model } from "../model.ts"
import type { Made, Make } from "./letIn.ts"
import * as Modern from "./modern.ts"
import * as Server from "./server.ts"
import * as Sessions from "./sessions.ts"
import * as Streams from "./streams.ts"
import * as Tasks from "./tasks.ts"

const weighted: ReadonlyArray<readonly [weight: number, make: Make]> = [
  [4, Sessions.open],
  [2, Sessions.initialize],
  [5, Sessions.ready],
  [2, Sessions.instant],
  [4, Sessions.wait],
  [4, Sessions.report],
  [6, Sessions.ask],
  [3, Sessions.subscribe],
  [5, Sessions.reply],
  [3, Sessions.cancel],
  [5, Streams.attach],
  [6, Streams.cut],
  [4, Streams.resume],
  [1, Streams.remove],
  [1, Modern.instantAlone],
  [2, Modern.waitAlone],
  [2, Modern.reportAlone],
  [3, Modern.askAlone],
  [4, Modern.retry],
  [3, Modern.listen],
  [2, Modern.cancelAlone],
  [5, Tasks.task],
  [2, Tasks.taskAlone],
  [8, Tasks.ofTask],
  [4, Tasks.ofTaskAlone],
  [7, Server.release],
  [4, Server.change],
  [3, Server.tick],
  [1, Server.jump],
  [0.7, Server.drain],
  [1, Server.restart]
]

const makeOf = chooser(weighted, Server.tick)

/** Kinds that do not apply give way to others, so that few moves come to nothing. */
const tries = 4
const golden = 0.618034

/** Makes a move in the model, and says what the world has to be told for it. */
export const make = (model: Model, move: Move): Made | undefined => {
  for (let n = 0; n < tries; n++) {
    const kind = (move.kind + n * golden) % 1
    const made = makeOf(kind)(model, { ...move, kind })
    if (made !== undefined) return made
  }
  return undefined
}
