import * as Middleware from "@mcpfx/server/Middleware"
import { adding, addingAgain } from "../adding.ts"
import { serve } from "../endpoint.ts"
import { inProcess, type Series } from "../series.ts"

export const middlewareSeries: ReadonlyArray<Series> = [{
  id: "middleware",
  title: "a call, behind so many middlewares that only pass it on",
  shape: "linear",
  effort: inProcess,
  sizes: [0, 1, 2, 4, 8, 16],
  make: async (size) => {
    let registrations = adding
    for (let depth = 0; depth < size; depth++) {
      const pass = Middleware.make()(`pass-${depth}`, (next, call) => next(call))
      registrations = registrations.pipe(Middleware.apply(pass))
    }
    return addingAgain(await serve(registrations))
  }
}]
